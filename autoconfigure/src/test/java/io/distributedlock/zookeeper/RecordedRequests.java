package io.distributedlock.zookeeper;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.Session;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connected handle without a server, whose requests a test answers one by one.
 */
public final class RecordedRequests {

	private final Queue<Request> requests = new ConcurrentLinkedQueue<>();

	private final ZooKeeper handle = Mockito.mock(ZooKeeper.class, this::answer);

	private @Nullable Object answer(InvocationOnMock invocation) {
		String method = invocation.getMethod().getName();
		if ("getSessionId".equals(method)) {
			return TestSessions.ID;
		}
		if ("getSessionTimeout".equals(method)) {
			return (int) TestSessions.TIMEOUT.toMillis();
		}
		if ("getState".equals(method)) {
			return ZooKeeper.States.CONNECTED;
		}
		for (Object argument : invocation.getArguments()) {
			if (argument instanceof AsyncCallback callback) {
				this.requests.add(new Request(method, String.valueOf(invocation.getArguments()[0]), callback));
			}
		}
		return null;
	}

	/** Creates a session whose requests are recorded here. */
	public Session session() {
		return new Session(this.handle, List.of(), 0, null, closedTimer());
	}

	/** Returns the oldest request that was not returned before. */
	public Request next(String method) {
		assertThat(this.requests).as("requests without an answer").isNotEmpty();
		Request next = this.requests.remove();
		assertThat(next.method()).isEqualTo(method);
		return next;
	}

	public void assertNone() {
		assertThat(this.requests).as("requests without an answer").isEmpty();
	}

	/** Returns a lock node as its own session reads it. */
	public static Stat lockNode(long czxid, LockNodeState state) {
		Stat stat = new Stat();
		stat.setEphemeralOwner(TestSessions.ID);
		stat.setCzxid(czxid);
		stat.setVersion(state.version());
		return stat;
	}

	/** Returns a wait queue as a process reads it. */
	public static Stat queue(int entries) {
		Stat stat = new Stat();
		stat.setNumChildren(entries);
		return stat;
	}

	/** Returns a timer that was closed, so that nothing happens by time. */
	public static LockTimer closedTimer() {
		LockTimer timer = new LockTimer();
		timer.close();
		return timer;
	}

	/** One request, which the test answers once. */
	public record Request(String method, String path, AsyncCallback callback) {

		public void succeed() {
			end(Code.OK, new Stat());
		}

		public void succeed(Stat stat) {
			end(Code.OK, stat);
		}

		public void fail(Code code) {
			end(code, null);
		}

		private void end(Code code, @Nullable Stat stat) {
			if (this.callback instanceof VoidCallback done) {
				done.processResult(code.intValue(), this.path, null);
			}
			else if (this.callback instanceof StatCallback written) {
				written.processResult(code.intValue(), this.path, null, stat);
			}
			else if (this.callback instanceof DataCallback read) {
				read.processResult(code.intValue(), this.path, null, null, stat);
			}
			else {
				throw new IllegalStateException("Not supported: " + this.callback);
			}
		}

		void succeedWithChildren(List<String> children) {
			Children2Callback read = (Children2Callback) this.callback;
			read.processResult(Code.OK.intValue(), this.path, null, children, new Stat());
		}

		void succeedWithResults(List<OpResult> results) {
			((MultiCallback) this.callback).processResult(Code.OK.intValue(), this.path, null, results);
		}

	}

}
