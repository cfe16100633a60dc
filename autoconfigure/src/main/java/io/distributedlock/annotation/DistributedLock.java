package io.distributedlock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

import io.distributedlock.LockMode;
import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;

/**
 * Annotation of a method that runs only while a lock is held that all processes of the
 * application share.
 * <p>
 * On a type it applies to each of its public methods; a method's own annotation replaces
 * it. It is found on classes, their superclasses and interfaces, and as a meta-annotation
 * with {@link AliasFor}. The lock is acquired outside the transaction of a transactional
 * method, and released after that has completed. Inside a transaction that is already
 * running it is kept until that one has completed. Calls that do not pass the Spring
 * proxy, such as those of a method of the same object, are not locked.
 * <p>
 * The annotation of a type leaves out the methods that the container calls:
 * {@code @PostConstruct}, {@code @PreDestroy}, {@code @Autowired}, {@code @Inject},
 * {@code @Resource}, {@code @Value} and {@code @Bean} methods,
 * {@code afterPropertiesSet()}, {@code destroy()}, {@code afterSingletonsInstantiated()}
 * and the setters of {@code Aware} interfaces. They are not locked either when other code
 * calls them through the proxy.
 * <p>
 * Methods without a {@link #name} do not share locks: {@code refund(7)} does not wait for
 * {@code pay(7)}. The key of an annotated method can be built by hand from its name and
 * the texts of its key expressions. A method {@code pay} of a class {@code Payments} with
 * {@code @DistributedLock("#id")} locks {@code LockKey.of("Payments.pay", "7")} for the
 * id 7.
 * <p>
 * A method that returns a {@code CompletableFuture} or a {@code CompletionStage} holds
 * the lock until that is complete; one that returns Reactor's {@code Mono} or
 * {@code Flux} holds it for each subscription, and waits without a thread. Other results
 * that are not finished when the method returns are refused, because their work would
 * continue after the lock is released: plain futures, streams and deferred web results.
 * <p>
 * {@code LockContext.current()} returns the lease to the body, and with it the fencing
 * token. A paused process can outlive its lease: only a resource that refuses lower
 * tokens is safe from its late writes.
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
	 * SpEL expressions that distinguish one lock of this name from another, such as
	 * {@code "#order.id"}. Without one there is one lock for the name.
	 * <p>
	 * They may use the arguments by name ({@code #order}, with {@code -parameters}) or
	 * position ({@code #p0}, {@code #a0}), {@code #root.method}, {@code #root.target} and
	 * {@code #root.args}, beans ({@code @tenants.current()}), and <code>${…}</code>
	 * placeholders. Fixed text needs quotes: {@code "'nightly'"}. The names of parameters
	 * are those of the method and of the declarations that it implements or overrides.
	 * Several expressions form one composite key. One that returns a collection or an
	 * array locks each element, all or none. Keys are evaluated once, before the lock is
	 * acquired, and values are never evaluated as expressions. A key that is
	 * {@code null}, blank or empty fails the call with an
	 * {@link io.distributedlock.InvalidLockKeyException}.
	 * <p>
	 * Values with equal texts are the same lock. The text is that of {@code toString()},
	 * with these exceptions: an enum counts by its name and a class by its full name, an
	 * {@code Optional} as its value, a {@code byte[]} as its hexadecimal digits, and a
	 * {@code BigDecimal} without trailing zeros and exponent. So {@code 7}, {@code 7L},
	 * {@code "7"}, {@code Optional.of(7)} and {@code new BigDecimal("7.00")} are one
	 * lock; {@code 7.0} as a {@code double} is {@code "7.0"}, another one. A {@code UUID}
	 * and the types of {@code java.time} count by their standard text. Values whose text
	 * differs from process to process are refused, such as {@code Date},
	 * {@code Calendar}, {@code InetAddress}, maps and their entries, objects without a
	 * {@code toString()} of their own, and records that contain these, arrays or sets
	 * without an order. A {@code toString()} of an application must not depend on locale
	 * or time zone.
	 * @return the expressions
	 */
	@AliasFor("value")
	String[] key() default {};

	/**
	 * The lock's name: namespace of its keys and tag of its metrics. Methods that declare
	 * the same name share locks. May contain <code>${…}</code> placeholders.
	 * <p>
	 * The default is the simple name of the class or interface that declares the
	 * annotated method, a dot, and the method's name, such as {@code OrderService.pay}.
	 * Where a type is annotated, the class that declares the method counts, or the
	 * annotated type if it inherits the method. Two methods with the same default name,
	 * such as overloads, fail the start.
	 * @return the name, or empty for the default
	 */
	String name() default "";

	/**
	 * Time for which the store keeps the lock unless it is renewed: the longest that a
	 * dead holder can block others. Written as {@code "30s"}, ISO-8601, or a
	 * <code>${…}</code> placeholder.
	 * @return the lease, or empty for {@code distributed-lock.lease}
	 */
	String lease() default "";

	/**
	 * Longest wait while the lock is busy; {@code "0"} means one attempt. Written as
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
	 * Time of holding after which renewal stops, so that a body that hangs does not keep
	 * the lock for ever. Written as {@link #lease}.
	 * @return the longest hold, or empty for {@code distributed-lock.max-hold}
	 */
	String maxHold() default "";

	/**
	 * Time after its grant for which the store keeps the lock at least, so that a job
	 * that many nodes start runs once: when the method returns earlier, or its process
	 * dies, no process is granted the lock before. No thread and no connection waits for
	 * that. Written as {@link #lease}, and not longer than {@link #maxHold}. A store that
	 * cannot keep a released lock refuses it at start: ZooKeeper, and a database with row
	 * locks.
	 * @return the shortest hold, or empty for none
	 */
	String minHold() default "";

	/**
	 * Who may hold the lock at the same time: {@link LockMode#SHARED} for methods that
	 * only read what exclusive locks of the same key protect.
	 * @return the mode; {@link LockMode#PERMIT} needs {@link #permits}, which imply it
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * Number of calls that may hold the lock at a time in all processes together, as with
	 * a semaphore.
	 * @return the number, or 0 for none
	 */
	int permits() default 0;

	/**
	 * Policy for a lock that stays busy for the whole wait time, unless {@link #fallback}
	 * names a method.
	 * @return the policy
	 */
	OnBusy onBusy() default OnBusy.FAIL;

	/**
	 * Name of the method that is called in place of this one if the lock stays busy. It
	 * takes the place of {@link OnBusy#FAIL}, and is refused with {@link OnBusy#SKIP}. It
	 * is a method of the same class, its superclasses or interfaces, also a private one.
	 * It has the same parameters, and optionally one more at the end for the
	 * {@link io.distributedlock.LockNotAcquiredException} (of this type, or a supertype
	 * up to {@code Throwable}). Its result fits that of this method: a method that
	 * returns a future or a publisher has a fallback that does, too.
	 * <p>
	 * It runs without the lock. It is called on the bare object, so that its own
	 * annotations, such as {@code @Transactional}, have no effect; a method that is
	 * locked itself is refused. Its exceptions reach the caller unchanged. May contain
	 * <code>${…}</code> placeholders.
	 * @return the name, or empty for none
	 */
	String fallback() default "";

	/**
	 * Policy for a lock that was lost before the body returned.
	 * @return the policy
	 */
	OnLost onLost() default OnLost.FAIL;

	/**
	 * Condition of the lock, a SpEL expression as in {@link #key}. It is evaluated before
	 * the key. If it is false, the method runs without the lock: {@code LockContext} has
	 * none of this method then. A value that is neither true nor false fails the call.
	 * @return the expression, or empty for none
	 */
	String condition() default "";

	/**
	 * Provider that keeps the lock: {@code jdbc}, {@code redis}, {@code zookeeper},
	 * {@code local}, {@code none}, or the name of a {@code LockProvider} bean. May
	 * contain <code>${…}</code> placeholders. Locks of different providers do not exclude
	 * each other.
	 * @return the provider, or empty for the primary one
	 */
	String provider() default "";

}
