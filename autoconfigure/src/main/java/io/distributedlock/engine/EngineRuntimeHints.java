package io.distributedlock.engine;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.GrantState;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;

/** Hints for the fields that the engine updates atomically by their names. */
final class EngineRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		List.of(Hold.class, GrantHandle.class, EngineLease.class, HeldGrant.class, GrantState.class)
			.forEach((type) -> hints.reflection().registerType(type, MemberCategory.ACCESS_DECLARED_FIELDS));
	}

}
