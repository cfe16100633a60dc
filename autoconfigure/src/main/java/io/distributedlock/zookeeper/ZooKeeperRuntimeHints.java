package io.distributedlock.zookeeper;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Hints for the sockets of the client, which it creates by the names of their classes.
 */
final class ZooKeeperRuntimeHints implements RuntimeHintsRegistrar {

	private static final List<String> SOCKETS = List.of("org.apache.zookeeper.ClientCnxnSocketNIO",
			"org.apache.zookeeper.ClientCnxnSocketNetty");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		SOCKETS.forEach((type) -> hints.reflection()
			.registerTypeIfPresent(classLoader, type, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS));
	}

}
