package io.distributedlock.zookeeper;

import io.distributedlock.provider.LockTimer;

/**
 * Components of one provider that its contenders share.
 */
record ProviderComponents(SessionTracker sessions, LockNodeRegistry lockNodes, QueueEntryRegistry queueEntries,
		Reservations reservations, UndecidedCommands undecided, LockHolderResolver holders,
		ShortLeaseWarning shortLeaseWarning, LockTimer timer) {

}
