package io.distributedlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Check that fails a test class if a thread of the library or of a store's client
 * outlives it, where later classes of the same JVM would see it. Registered for all test
 * classes by {@code META-INF/services}.
 * <p>
 * The servers and resources that all classes share are started once per JVM; their
 * threads have other names.
 */
public final class ThreadLeakCheck implements BeforeAllCallback, AfterAllCallback {

	private static final Log logger = LogFactory.getLog(ThreadLeakCheck.class);

	/** Twice the time after which an idle thread of the library ends. */
	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** Time after which a slow end of a thread is logged. */
	private static final Duration NOTABLE = Duration.ofSeconds(5);

	private static final Pattern NAMES = Pattern.compile("(distributed-lock-|lettuce-|HikariPool|Curator|JedisSentinel"
			+ "|MasterListener|commons-pool-evictor|test-thread).*|.*-(SendThread|EventThread)\\b.*");

	private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace
		.create(ThreadLeakCheck.class);

	private final Duration patience;

	/** Creates the check for the tests of this project. */
	public ThreadLeakCheck() {
		this(PATIENCE);
	}

	/**
	 * Creates a check.
	 * @param patience the time within which the threads of a class have to end
	 */
	ThreadLeakCheck(Duration patience) {
		this.patience = patience;
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		if (isTopLevel(context)) {
			context.getStore(NAMESPACE).put("before", new HashSet<>(threads()));
		}
	}

	@Override
	public void afterAll(ExtensionContext context) throws InterruptedException {
		if (!isTopLevel(context)) {
			return;
		}
		@SuppressWarnings("unchecked")
		Set<Thread> before = context.getStore(NAMESPACE).remove("before", Set.class);
		long start = System.nanoTime();
		for (Thread thread : threads()) {
			if (!before.contains(thread)) {
				thread.join(Math.max(1, this.patience.minusNanos(System.nanoTime() - start).toMillis()));
				report(context, thread, start);
			}
		}
	}

	private static void report(ExtensionContext context, Thread thread, long start) {
		Duration waited = Duration.ofNanos(System.nanoTime() - start);
		if (thread.isAlive()) {
			throw new AssertionError(context.getDisplayName() + " left threads behind: " + stacks());
		}
		if (waited.compareTo(NOTABLE) > 0) {
			logger.warn(context.getDisplayName() + " waited " + waited + " for the end of " + thread.getName());
		}
	}

	private static String stacks() {
		Map<Thread, StackTraceElement[]> all = Thread.getAllStackTraces();
		return threads().stream()
			.map((thread) -> thread.getName() + "\n\tat "
					+ Arrays.stream(all.getOrDefault(thread, new StackTraceElement[0]))
						.map(StackTraceElement::toString)
						.collect(Collectors.joining("\n\tat ")))
			.collect(Collectors.joining("\n"));
	}

	private static List<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> NAMES.matcher(thread.getName()).matches())
			.toList();
	}

	private static boolean isTopLevel(ExtensionContext context) {
		return context.getRequiredTestClass().getEnclosingClass() == null;
	}

}
