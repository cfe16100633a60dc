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
 * Fails a test class that leaves a thread of the library or of a store's client behind,
 * where later classes of the same JVM would see it. Registered for all test classes by
 * {@code META-INF/services}.
 * <p>
 * The servers and resources that all classes share are started once per JVM; their
 * threads have other names.
 */
public final class ThreadLeakCheck implements BeforeAllCallback, AfterAllCallback {

	private static final Log logger = LogFactory.getLog(ThreadLeakCheck.class);

	/**
	 * Twice what an idle thread of the library lives, so that its end depends on no luck.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** A class that takes longer to end its threads did not close something. */
	private static final Duration NOTABLE = Duration.ofSeconds(5);

	private static final Pattern NAMES = Pattern.compile("(distributed-lock-|lettuce-|HikariPool|Curator|JedisSentinel"
			+ "|MasterListener|commons-pool-evictor|test-thread).*|.*-(SendThread|EventThread)\\b.*");

	private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace
		.create(ThreadLeakCheck.class);

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
				thread.join(Math.max(1, PATIENCE.minusNanos(System.nanoTime() - start).toMillis()));
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
