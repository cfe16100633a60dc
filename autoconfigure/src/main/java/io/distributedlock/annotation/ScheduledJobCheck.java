package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockError;
import io.distributedlock.LockMode;
import io.distributedlock.interceptor.LockAttribute;

/**
 * Warnings of scheduled jobs that may run on several nodes, each logged once: those that
 * wait for the node before them, and those without a shortest hold.
 */
final class ScheduledJobCheck {

	private static final Log logger = LogFactory.getLog(ScheduledJobCheck.class);

	private static final String SCHEDULED = "org.springframework.scheduling.annotation.Scheduled";

	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	void check(Method method, Class<?> targetClass, LockAttribute attribute,
			MergedAnnotation<DistributedLock> annotation) {
		if (annotation.getMetaTypes().contains(ScheduledLock.class)) {
			if (attribute.request().minHold() == null) {
				warn(method, targetClass,
						"has a @ScheduledLock without minHold: a run that is shorter than the clocks of the nodes differ"
								+ " is followed by another one on the next node",
						"Set minHold to more than the clocks can differ and less than the time between two runs, such as"
								+ " minHold = \"1m\" (ZooKeeper cannot keep it: there, let the job find out whether its"
								+ " run was done)");
			}
		}
		else if (attribute.request().waitTime() == null && attribute.request().mode() == LockMode.EXCLUSIVE
				&& isScheduled(method)) {
			warn(method, targetClass,
					"is scheduled and waits for its lock with the default wait time, so that every node may run it, one"
							+ " after the other",
					"Use @ScheduledLock in place of @DistributedLock to run it once, or set waitTime if every node has to"
							+ " run it");
		}
	}

	private void warn(Method method, Class<?> targetClass, String fact, String action) {
		if (this.warned.add(method)) {
			logger.warn(LockError.SCHEDULED_ON_EVERY_NODE.describe("The locked method "
					+ ClassUtils.getUserClass(targetClass).getName() + "." + method.getName() + " " + fact, action));
		}
	}

	private static boolean isScheduled(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.isPresent(SCHEDULED);
	}

}
