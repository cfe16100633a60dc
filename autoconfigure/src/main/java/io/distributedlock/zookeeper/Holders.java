package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockProviderException;

/**
 * Who holds a door, as people know them: the label in the node of the process whose
 * session it is. Remembers the labels of the last sessions met.
 */
final class Holders {

	private static final Log logger = LogFactory.getLog(Holders.class);

	private static final int MOST = 256;

	private final LockPaths paths;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Long, String> labels = new LinkedHashMap<>(16, 0.75f, true);

	Holders(LockPaths paths) {
		this.paths = paths;
	}

	/**
	 * Names the holder of a door.
	 * @param door the door, or {@code null} if it was not there when it was looked at
	 * @return the holder, or {@code null} where nobody holds
	 */
	@Nullable LockHolder of(@Nullable Node door, Session session, Await await) {
		if (door == null || door.version() == GiveBack.RESERVED) {
			return null;
		}
		long owner = door.stat().getEphemeralOwner();
		return new LockHolder(label(owner, session, await), Duration.ofMillis(session.since(door.stat().getCtime())),
				null);
	}

	private String label(long owner, Session session, Await await) {
		String known = known(owner);
		if (known != null) {
			return known;
		}
		try {
			Node process = await.node(session.calls().read(this.paths.process(owner), null));
			if (process != null && process.data().length > 0) {
				return remember(owner, new String(process.data(), StandardCharsets.UTF_8));
			}
		}
		catch (LockProviderException ex) {
			logger.debug("The holder's name could not be read", ex);
		}
		return "session 0x" + Long.toHexString(owner);
	}

	private @Nullable String known(long owner) {
		this.lock.lock();
		try {
			return this.labels.get(owner);
		}
		finally {
			this.lock.unlock();
		}
	}

	private String remember(long owner, String label) {
		this.lock.lock();
		try {
			this.labels.put(owner, label);
			if (this.labels.size() > MOST) {
				this.labels.remove(this.labels.keySet().iterator().next());
			}
		}
		finally {
			this.lock.unlock();
		}
		return label;
	}

}
