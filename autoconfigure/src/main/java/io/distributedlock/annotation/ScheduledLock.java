package io.distributedlock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

import io.distributedlock.OnBusy;

/**
 * Annotation of a scheduled job that every node starts and one node runs: a
 * {@link DistributedLock} with one attempt, whose call is skipped if the lock is busy.
 * <p>
 * The clocks of the nodes differ, so that a run that is shorter than the difference would
 * begin on another node after it has ended. {@link #minHold} prevents that: within it
 * there is one start at most, as the store's clock counts. Choose it longer than the
 * clocks can differ, and shorter than the time between two runs: <pre>
 * &#64;Scheduled(cron = "0 0 3 * * *")
 * &#64;ScheduledLock(name = "nightly-report", minHold = "30m")
 * void report() { … }
 * </pre>
 *
 * @since 0.1.0
 * @see DistributedLock
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@DistributedLock(waitTime = "0", onBusy = OnBusy.SKIP)
public @interface ScheduledLock {

	/**
	 * The lock's name, as {@link DistributedLock#name}.
	 * @return the name, or empty for the default
	 */
	@AliasFor(annotation = DistributedLock.class, attribute = "name")
	String name() default "";

	/**
	 * Time within which the job starts once at most, as {@link DistributedLock#minHold}.
	 * Without one the start of the application logs a warning.
	 * @return the shortest hold, or empty for none
	 */
	@AliasFor(annotation = DistributedLock.class, attribute = "minHold")
	String minHold() default "";

	/**
	 * Time for which the store keeps the lock of a node that died, unless
	 * {@link #minHold} is longer, as {@link DistributedLock#lease}.
	 * @return the lease, or empty for {@code distributed-lock.lease}
	 */
	@AliasFor(annotation = DistributedLock.class, attribute = "lease")
	String lease() default "";

	/**
	 * Provider that keeps the lock, as {@link DistributedLock#provider}.
	 * @return the provider, or empty for the primary one
	 */
	@AliasFor(annotation = DistributedLock.class, attribute = "provider")
	String provider() default "";

}
