package io.distributedlock.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.distributedlock.BrokenSource;

/**
 * A way to break the library on purpose, which the checker of a run has to find. The
 * clients of the run have the broken class or script before all others.
 *
 * @param name what goes wrong, one line
 * @param rules the rules of which one has to find it
 * @param source the file below {@code src/main}
 * @param text what is replaced, once
 * @param replacement what replaces it
 */
record ChaosBreakage(String name, List<Class<? extends HistoryRule>> rules, String source, String text,
		String replacement) {

	private static final List<Class<? extends HistoryRule>> EXCLUSION = List.of(SingleBelief.class,
			ExplainedLosses.class);

	private static final List<Class<? extends HistoryRule>> TOKENS = List.of(RisingTokens.class);

	private static final List<Class<? extends HistoryRule>> WAITING = List.of(ServedWaiters.class);

	private static final String GRANT = "java/io/distributedlock/engine/grant/HeldGrant.java";

	private static final String TOKEN = "java/io/distributedlock/FencingToken.java";

	private static final String TOKEN_TEXT = "return new FencingToken(order * HOLDS + holdNumber);";

	private static final String SCRIPTS = "resources/io/distributedlock/redis/script/";

	static final List<ChaosBreakage> ALL = List.of(
			new ChaosBreakage("a release frees whoever holds the lock", EXCLUSION, SCRIPTS + "release.lua",
					"if not value or string.sub(value, 1, STATE) ~= string.sub(ARGV[1], 1, STATE) then",
					"if not value then"),
			new ChaosBreakage("an attempt takes a lock that is held", EXCLUSION, SCRIPTS + "attempt.lua",
					"ARGV[3], 'NX', 'PX'", "ARGV[3], 'PX'"),
			new ChaosBreakage("the store keeps a lock for too short", EXCLUSION, SCRIPTS + "attempt.lua",
					"'NX', 'PX', ARGV[2])", "'NX', 'PX', 500)"),
			new ChaosBreakage("all requests have one owner", EXCLUSION, "java/io/distributedlock/provider/OwnerId.java",
					"return (isShare() == share) ? this : new OwnerId(this.high, this.low ^ SHARE);",
					"return new OwnerId(1, share ? 1 : 0);"),
			new ChaosBreakage("a writer is let in beside readers", EXCLUSION, SCRIPTS + "attempt-busy.lua",
					"local acquirable = false", "local acquirable = string.sub(value, STATE, STATE) == SHARED"),
			new ChaosBreakage("a reader is let in beside a writer", EXCLUSION, SCRIPTS + "attempt-share.lua",
					"local free = not value", "local free = not value or state == HELD"),
			new ChaosBreakage("there is one permit too many", EXCLUSION, SCRIPTS + "attempt-share.lua",
					"free = count < limit", "free = count <= limit"),
			new ChaosBreakage("a holder relies on its lock for too long", EXCLUSION, GRANT,
					"return Nanos.earlier(validUntilNanos(), this.holdUntilNanos);",
					"return Nanos.earlier(validUntilNanos() + 3 * lease().toNanos(), this.holdUntilNanos);"),
			new ChaosBreakage("no lock is renewed", EXCLUSION, GRANT, "if (!claimRenewal()) {",
					"if (isCurrent() || !claimRenewal()) {"),
			new ChaosBreakage("all tokens are the same", TOKENS, TOKEN, TOKEN_TEXT,
					"return new FencingToken(((order > 0) ? 1 : order) * HOLDS);"),
			new ChaosBreakage("the holds of a grant have one token", TOKENS, TOKEN, TOKEN_TEXT,
					"return new FencingToken(order * HOLDS);"),
			new ChaosBreakage("each process counts its tokens", TOKENS, TOKEN, TOKEN_TEXT,
					"return new FencingToken(COUNT.incrementAndGet()); } private static final "
							+ "java.util.concurrent.atomic.AtomicLong COUNT = new java.util.concurrent.atomic.AtomicLong(); "
							+ "static void unused() {"),
			new ChaosBreakage("tokens come from clocks that differ", TOKENS, TOKEN, TOKEN_TEXT,
					"return new FencingToken(System.currentTimeMillis() + ProcessHandle.current().pid() % 7 * 700);"),
			new ChaosBreakage("a lock has no lease", List.of(EmptyStore.class, ServedWaiters.class),
					SCRIPTS + "attempt.lua", "'NX', 'PX', ARGV[2])", "'NX')"),
			new ChaosBreakage("a release does nothing if nobody waits", WAITING, SCRIPTS + "release.lua",
					"if value == ARGV[1] then\n  redis.call('DEL', KEYS[1])", "if value == ARGV[1] then"),
			new ChaosBreakage("a share counts after its release", WAITING, SCRIPTS + "release-share.lua",
					"if own and count > 0 then", "if own then\n    return 1\n  end\n  if own and count > 0 then"),
			new ChaosBreakage("no loss is told", List.of(ToldLosses.class),
					"java/io/distributedlock/engine/event/GrantHandle.java", "\t\tlossActions().open();",
					"\t\tlossActions();"));

	private Path file() {
		return Path.of("src", "main").resolve(this.source);
	}

	String original() throws IOException {
		return Files.readString(file());
	}

	/**
	 * Writes what is broken to a folder, which is to be the first of a class path.
	 * @param folder an empty folder
	 */
	void write(Path folder) throws IOException {
		BrokenSource.write(file(), this.text, this.replacement, folder);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
