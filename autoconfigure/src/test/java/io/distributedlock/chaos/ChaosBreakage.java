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
 * @param rules the rules of which one has to find it, none of which is about time
 * @param source the file below {@code src/main}
 * @param text what is replaced, once
 * @param replacement what replaces it
 */
record ChaosBreakage(String name, List<Class<? extends HistoryRule>> rules, String source, String text,
		String replacement) {

	private static final String JAVA = "java/io/distributedlock/";

	private static final String SCRIPTS = "resources/io/distributedlock/redis/script/";

	static final List<ChaosBreakage> ALL = List.of(new ChaosBreakage("a release frees whoever holds the lock",
			List.of(SingleBelief.class, ExplainedLosses.class), SCRIPTS + "release.lua",
			"if not value or string.sub(value, 1, STATE) ~= string.sub(ARGV[1], 1, STATE) then", "if not value then"),
			new ChaosBreakage("an attempt takes a lock that is held",
					List.of(SingleBelief.class, ExplainedLosses.class), SCRIPTS + "attempt.lua", "ARGV[3], 'NX', 'PX'",
					"ARGV[3], 'PX'"),
			new ChaosBreakage("a holder relies on its lock for too long", List.of(SingleBelief.class),
					JAVA + "engine/grant/HeldGrant.java",
					"return Nanos.earlier(validUntilNanos(), this.holdUntilNanos);",
					"return Nanos.earlier(validUntilNanos() + 3 * lease().toNanos(), this.holdUntilNanos);"),
			new ChaosBreakage("all tokens are the same", List.of(RisingTokens.class), JAVA + "FencingToken.java",
					"return new FencingToken(order * HOLDS + holdNumber);",
					"return new FencingToken(((order > 0) ? 1 : order) * HOLDS);"),
			new ChaosBreakage("no lock is renewed", List.of(ExplainedLosses.class),
					JAVA + "engine/grant/HeldGrant.java", "if (!claimRenewal()) {",
					"if (isCurrent() || !claimRenewal()) {"),
			new ChaosBreakage("no loss is told", List.of(ToldLosses.class), JAVA + "engine/event/GrantHandle.java",
					"\t\tlossActions().open();", "\t\tlossActions();"));

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
