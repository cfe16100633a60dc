package io.distributedlock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

import io.distributedlock.interceptor.OnBusy;
import io.distributedlock.interceptor.OnLost;

/**
 * Runs a method only while a lock is held that all processes of the application share.
 * <p>
 * On a type it stands for each of its public methods; a method's own annotation replaces
 * it. It is found on classes, their superclasses and interfaces, and as a meta-annotation
 * with {@link AliasFor}. The lock is taken outside the transaction of a transactional
 * method, and released after that has completed. Calls that do not pass the Spring proxy,
 * such as those of a method of the same object, are not locked.
 * <p>
 * {@code LockContext.current()} gives the body its handle, and with it the fencing token.
 * A paused process can outlive its lease: only a resource that refuses lower tokens is
 * safe from its late writes.
 *
 * @since 0.1.0
 * @see io.distributedlock.LockOperations#execute
 * @see io.distributedlock.LockContext#current()
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.TYPE })
public @interface DistributedLock {

	/**
	 * Alias for {@link #key}.
	 * @return the expressions
	 */
	@AliasFor("key")
	String[] value() default {};

	/**
	 * SpEL expressions that tell one lock of this name from another, such as
	 * {@code "#order.id"}. None means one lock for the method.
	 * <p>
	 * They may use the arguments by name ({@code #order}, with {@code -parameters}) or
	 * place ({@code #p0}, {@code #a0}), {@code #root.method}, {@code #root.target} and
	 * {@code #root.args}, beans ({@code @tenants.current()}), and <code>${…}</code>
	 * placeholders. Several expressions form one composite key. One that gives a
	 * collection or an array locks each element, all or none; an {@code Optional} counts
	 * as its value. Keys are evaluated once, before the lock is taken, and values are
	 * never evaluated as expressions. A key that is {@code null}, blank or empty fails
	 * the call.
	 * @return the expressions
	 */
	@AliasFor("value")
	String[] key() default {};

	/**
	 * The lock's name: namespace of its keys and tag of its metrics. Methods that declare
	 * the same name share locks. May contain <code>${…}</code> placeholders.
	 * @return the name, or empty for the simple name of the declaring class and the
	 * method's, such as {@code OrderService.pay}
	 */
	String name() default "";

	/**
	 * How long the store keeps the lock unless it is renewed: the longest that a dead
	 * holder can block others. Text such as {@code "30s"}, ISO-8601, or a
	 * <code>${…}</code> placeholder.
	 * @return the lease, or empty for {@code distributed-lock.lease}
	 */
	String lease() default "";

	/**
	 * How long to wait while the lock is busy; {@code "0"} means one attempt. Written as
	 * {@link #lease}.
	 * @return the wait time, or empty for {@code distributed-lock.wait-time}
	 */
	String waitTime() default "";

	/**
	 * Whether the lease is renewed while the body runs. If not, the lease is the longest
	 * hold.
	 * @return whether to renew
	 */
	boolean renew() default true;

	/**
	 * After which time of holding renewal stops, so that a body that hangs does not keep
	 * the lock for ever. Written as {@link #lease}.
	 * @return the longest hold, or empty for {@code distributed-lock.max-hold}
	 */
	String maxHold() default "";

	/**
	 * What to do when the lock stays busy for the whole wait time.
	 * @return the policy
	 */
	OnBusy onBusy() default OnBusy.FAIL;

	/**
	 * What to do when the body returned but the lock was lost on the way.
	 * @return the policy
	 */
	OnLost onLost() default OnLost.FAIL;

}
