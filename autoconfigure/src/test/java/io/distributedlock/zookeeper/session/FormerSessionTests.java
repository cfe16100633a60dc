package io.distributedlock.zookeeper.session;

import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper.States;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

class FormerSessionTests {

	private final CuratorFramework client = mock(CuratorFramework.class);

	private static Session session(long id, States state, boolean kept) {
		LockZooKeeper handle = mock(LockZooKeeper.class);
		given(handle.getSessionId()).willReturn(id);
		given(handle.getSessionTimeout()).willReturn(10_000);
		given(handle.getState()).willReturn(state);
		given(handle.hasKeptSession()).willReturn(kept);
		LockTimer timer = new LockTimer();
		timer.close();
		return new Session(handle, List.of(), 0, null, timer);
	}

	private void end(Session former) {
		FormerSession.end(former, session(2, States.CONNECTED, false), this.client);
	}

	@Test
	void sessionOfAClosedHandleIsEndedByAnother() {
		given(this.client.getZookeeperClient()).willThrow(new IllegalStateException("asked for the servers"));
		assertThatIllegalStateException().isThrownBy(() -> end(session(1, States.CLOSED, false)))
			.withMessage("asked for the servers");
	}

	@Test
	void keptSessionIsLeftToItsTimeout() {
		end(session(1, States.CLOSED, true));
		verifyNoInteractions(this.client);
	}

	@Test
	void refusedSessionIsLeftToItsTimeout() {
		end(session(1, States.AUTH_FAILED, false));
		verifyNoInteractions(this.client);
	}

	@Test
	void presentSessionIsNotEnded() {
		end(session(2, States.CLOSED, false));
		verifyNoInteractions(this.client);
	}

}
