package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;

import org.apache.zookeeper.ZooKeeper;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

/** Sessions for tests without a server. */
final class TestSessions {

	static final long ID = 0x1ab;

	static final Duration TIMEOUT = Duration.ofSeconds(10);

	private TestSessions() {
	}

	/** Creates a session whose requests are never answered. */
	static Session unanswered() {
		return unanswered(TIMEOUT);
	}

	static Session unanswered(Duration timeout) {
		ZooKeeper handle = Mockito.mock(ZooKeeper.class);
		BDDMockito.given(handle.getSessionId()).willReturn(ID);
		BDDMockito.given(handle.getSessionTimeout()).willReturn((int) timeout.toMillis());
		return new Session(handle, List.of(), 0, null, RecordedRequests.closedTimer());
	}

}
