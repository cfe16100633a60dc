package io.distributedlock.support;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for the fields that the engine updates atomically by their names. */
final class EngineRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		List.of(Hold.class, ObservedHold.class, HeldGrant.class, GrantState.class)
			.forEach((type) -> hints.reflection().registerType(type, MemberCategory.ACCESS_DECLARED_FIELDS));
	}

}
