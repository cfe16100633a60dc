package io.distributedlock;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

import com.sun.management.OperatingSystemMXBean;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Notes the processor time of this JVM for each test class beside Surefire's reports,
 * which know the clock only. The build's list of the slowest classes reads it. Registered
 * for all test classes by {@code META-INF/services}.
 */
public final class ProcessorTimes implements BeforeAllCallback, AfterAllCallback {

	private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(ProcessorTimes.class);

	private static final Path REPORTS = Path.of("target", "surefire-reports");

	private final OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

	@Override
	public void beforeAll(ExtensionContext context) {
		if (isTopLevel(context)) {
			context.getStore(NAMESPACE).put("before", this.system.getProcessCpuTime());
		}
	}

	@Override
	public void afterAll(ExtensionContext context) throws IOException {
		if (isTopLevel(context) && Files.isDirectory(REPORTS)) {
			long before = context.getStore(NAMESPACE).remove("before", Long.class);
			double seconds = (this.system.getProcessCpuTime() - before) / 1e9;
			Files.writeString(REPORTS.resolve(context.getRequiredTestClass().getName() + ".processor-time"),
					Double.toString(seconds));
		}
	}

	private static boolean isTopLevel(ExtensionContext context) {
		return context.getRequiredTestClass().getEnclosingClass() == null;
	}

}
