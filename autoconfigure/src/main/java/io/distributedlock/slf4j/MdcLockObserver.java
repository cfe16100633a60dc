package io.distributedlock.slf4j;

import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.ObserverScope;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockObserver;

/**
 * An observer that names the lock in the log lines of the work under it: the entries
 * {@code lock.name}, {@code lock.key}, {@code lock.mode} and {@code lock.token} of
 * SLF4J's {@link MDC}, on the thread of the body. What the entries were before is
 * restored after it. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class MdcLockObserver implements LockObserver {

	@Override
	public AcquireObserver onAcquireStart(LockKey key) {
		return onAcquireStart(key, LockMode.EXCLUSIVE);
	}

	@Override
	public AcquireObserver onAcquireStart(LockKey key, LockMode mode) {
		return new RequestedLock(key, mode);
	}

	/**
	 * A lock that is requested.
	 *
	 * @param key the key
	 * @param mode the mode
	 */
	private record RequestedLock(LockKey key, LockMode mode) implements AcquireObserver {

		@Override
		public HoldObserver onHoldStart(FencingToken token) {
			return new HeldLock(this.key, this.mode, token);
		}

		@Override
		public AcquireObserver onNextKey(LockKey next) {
			return new RequestedLock(next, this.mode);
		}

	}

	/**
	 * A lock that is held.
	 *
	 * @param key the key
	 * @param mode its mode
	 * @param token its fencing token
	 */
	private record HeldLock(LockKey key, LockMode mode, FencingToken token) implements HoldObserver {

		private static final String NAME = "lock.name";

		private static final String KEY = "lock.key";

		private static final String MODE = "lock.mode";

		private static final String TOKEN = "lock.token";

		/** Control and format characters, and separators of lines. */
		private static final Pattern ESCAPED = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

		@Override
		public ObserverScope openScope() {
			String name = MDC.get(NAME);
			String encoded = MDC.get(KEY);
			String outer = MDC.get(MODE);
			String number = MDC.get(TOKEN);
			MDC.put(NAME, text(this.key.name()));
			MDC.put(KEY, text(this.key.toString()));
			MDC.put(MODE, this.mode.name().toLowerCase(Locale.ROOT));
			MDC.put(TOKEN, this.token.toString());
			return () -> {
				restore(NAME, name);
				restore(KEY, encoded);
				restore(MODE, outer);
				restore(TOKEN, number);
			};
		}

		/**
		 * Escapes characters as {@code %u000A}: a name or key may come from outside, and
		 * must not forge a log line.
		 */
		private static String text(String text) {
			return ESCAPED.matcher(text).replaceAll((found) -> String.format("%%u%04X", found.group().codePointAt(0)));
		}

		private static void restore(String entry, @Nullable String value) {
			if (value != null) {
				MDC.put(entry, value);
			}
			else {
				MDC.remove(entry);
			}
		}

	}

}
