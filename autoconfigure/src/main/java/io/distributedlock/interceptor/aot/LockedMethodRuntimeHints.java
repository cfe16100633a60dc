package io.distributedlock.interceptor.aot;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

import io.distributedlock.interceptor.expression.KeyRoot;
import io.distributedlock.interceptor.expression.UnfinishedResults;

/**
 * Hints for what locked methods read by reflection whatever their expressions are.
 */
final class LockedMethodRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.reflection().registerType(KeyRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection()
			.registerTypeIfPresent(classLoader, UnfinishedResults.HTTP_ENTITY,
					(entity) -> entity.withMethod("getBody", List.of(), ExecutableMode.INVOKE));
	}

}
