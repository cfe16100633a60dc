package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;

import org.apache.zookeeper.ZooKeeper;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

import io.distributedlock.zookeeper.session.Session;

/** Sessions for tests without a server. */
public final class TestSessions {

	public static final long ID = 0x1ab;

	public static final Duration TIMEOUT = Duration.ofSeconds(10);

	private TestSessions() {
	}

	/** Creates a session whose requests are never answered. */
	public static Session unanswered() {
		return unanswered(TIMEOUT);
	}

	public static Session unanswered(Duration timeout) {
		ZooKeeper handle = Mockito.mock(ZooKeeper.class);
		BDDMockito.given(handle.getSessionId()).willReturn(ID);
		BDDMockito.given(handle.getSessionTimeout()).willReturn((int) timeout.toMillis());
		return new Session(handle, List.of(), 0, null, RecordedRequests.closedTimer());
	}

}
