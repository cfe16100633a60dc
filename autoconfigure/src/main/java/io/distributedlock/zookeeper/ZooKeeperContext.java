package io.distributedlock.zookeeper;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.ReleaseOperations;
import io.distributedlock.zookeeper.node.UnacknowledgedCommands;
import io.distributedlock.zookeeper.session.SessionTracker;

/**
 * Components of one provider that its contenders share.
 */
record ZooKeeperContext(SessionTracker sessions, LockNodeRegistry lockNodes, QueueEntryRegistry queueEntries,
		ReleaseOperations releases, UnacknowledgedCommands undecided, LockHolderResolver holders,
		ShortLeaseWarning shortLeaseWarning, LockTimer timer) {

}
