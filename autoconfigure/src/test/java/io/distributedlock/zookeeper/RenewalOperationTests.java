package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.RecordedRequests.Request;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.NodeAttempt;
import io.distributedlock.zookeeper.node.ReleaseOperations;
import io.distributedlock.zookeeper.node.UnacknowledgedCommands;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link RenewalOperation}. */
class RenewalOperationTests {

	private static final long CZXID = 42;

	private static final Duration HOUR = Duration.ofHours(1);

	private final LockTimer timer = RecordedRequests.closedTimer();

	private final RecordedRequests requests = new RecordedRequests();

	private final Session session = this.requests.session();

	private final ReleaseOperations releases = new ReleaseOperations((key) -> {
		// Ignored: this process has no queue entry.
	}, this.timer);

	private final LockNodeRegistry lockNodes = new LockNodeRegistry(this.timer, this::release);

	private final UnacknowledgedCommands undecided = new UnacknowledgedCommands(this.lockNodes, this.releases,
			this.timer);

	private void release(LockNode node) {
		this.undecided.release(node);
	}

	private LockGrant granted(String key, Duration lease) {
		NodeAttempt attempt = new NodeAttempt(LockKey.of(key), new LockPath("/locks/" + key, "/queues/" + key),
				OwnerId.random(), this.session);
		LockNode node = new LockNode(attempt, CZXID, null, lease);
		this.lockNodes.add(node);
		return node.grant();
	}

	private StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases) {
		return new RenewalOperation(this.lockNodes, this.undecided, this.timer, HOUR).renew(leases);
	}

	private static OpResult read() {
		Stat stat = RecordedRequests.lockNode(CZXID, LockNodeState.HELD);
		return new OpResult.GetDataResult(new byte[0], stat);
	}

	@Test
	void outcomeOfAnExpiredLeaseIsMissingWhileItsReleaseIsUndecided() {
		LockGrant held = granted("held", HOUR);
		LockGrant expired = granted("expired", Duration.ZERO);
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renew(Map.of(held, HOUR, expired, HOUR));
		Request delete = this.requests.next("delete");
		this.requests.next("multi").succeedWithResults(List.of(read()));
		assertThat(call.result()).containsOnly(Map.entry(held, RenewalOutcome.RENEWED));
		delete.succeed();
		assertThat(renew(Map.of(expired, HOUR)).result()).containsOnly(Map.entry(expired, RenewalOutcome.NOT_HELD));
	}

	@Test
	void outcomeOfAReleasedLeaseIsReturnedWithTheOthers() {
		LockGrant held = granted("held", HOUR);
		LockGrant expired = granted("expired", Duration.ZERO);
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renew(Map.of(held, HOUR, expired, HOUR));
		this.requests.next("delete").succeed();
		assertThat(call.isDone()).isFalse();
		this.requests.next("multi").succeedWithResults(List.of(read()));
		assertThat(call.result()).containsOnly(Map.entry(held, RenewalOutcome.RENEWED),
				Map.entry(expired, RenewalOutcome.NOT_HELD));
	}

	@Test
	void endOfALeaseIsReturnedOnceTheLockIsReleased() {
		LockGrant expired = granted("expired", Duration.ZERO);
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renew(Map.of(expired, HOUR));
		assertThat(call.isDone()).isFalse();
		this.requests.next("delete").succeed();
		assertThat(call.result()).containsOnly(Map.entry(expired, RenewalOutcome.NOT_HELD));
	}

}
