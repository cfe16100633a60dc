package io.distributedlock.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;

/**
 * Provider whose exclusive grants are permits of one: the contracts of exclusive locks
 * apply to these, so that a fixture that returns such providers shows them of shares.
 */
public final class OnePermit {

	private OnePermit() {
	}

	/**
	 * Returns a provider of permits.
	 * @param provider the provider that grants the shares
	 * @return the provider, which has the owner ids of shares in place of those it is
	 * given
	 */
	public static LockProvider of(LockProvider provider) {
		return asShares(LockProvider.class, provider);
	}

	private static <T> T asShares(Class<T> type, T target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (method.getName().equals("newContender")) {
					return asShares(LockContender.class, ((LockProvider) target)
						.newShareContender((LockKey) arguments[0], 1, (Runnable) arguments[1]));
				}
				try {
					return method.invoke(target,
							(arguments != null) ? Stream.of(arguments)
								.map((value) -> (value instanceof OwnerId owner) ? owner.ofShare(true) : value)
								.toArray() : null);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
