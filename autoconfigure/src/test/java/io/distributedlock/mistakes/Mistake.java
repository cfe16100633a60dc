package io.distributedlock.mistakes;

import java.util.EnumSet;
import java.util.Set;

/** The mistakes, each with its exact message. */
enum Mistake {

	PRIVATE_METHOD("PrivateMethod", Kind.CLASS,
			"DL-606: The locked method ~PrivateMethod.hidden() is private, so that no proxy can"
					+ " intercept it and it would run without its lock. Remove 'private', or move the annotation"
					+ " to a method that callers reach through the bean"),

	FINAL_METHOD("FinalMethod", Kind.CLASS,
			"DL-606: The locked method ~FinalMethod.run(String) is final, so that no proxy can"
					+ " intercept it and it would run without its lock. Remove 'final', or move the annotation to"
					+ " a method that callers reach through the bean"),

	STATIC_METHOD("StaticMethod", Kind.CLASS,
			"DL-606: The locked method ~StaticMethod.shared() is static, so that no proxy can"
					+ " intercept it and it would run without its lock. Remove 'static', or move the annotation"
					+ " to a method that callers reach through the bean"),

	/** Spring itself refuses it where its product or its scope is proxied. */
	FINAL_CLASS("FinalClass", Kind.CLASS,
			"DL-606: The class ~FinalClass has locked methods but is final, so that no proxy can"
					+ " intercept them. Remove 'final' (records are always final), or move the locked methods to"
					+ " another class"),

	IN_NO_INTERFACE("InNoInterface", Kind.CLASS,
			"DL-606: The locked method ~InNoInterface.extra() is in no interface, but its bean is"
					+ " proxied by interface only. Add it to an interface, or let Spring proxy classes"
					+ " (spring.aop.proxy-target-class=true)"),

	UNKNOWN_VARIABLE("UnknownVariable", Kind.CLASS,
			"DL-602: The key '#order' of locked method ~UnknownVariable.run(String) uses #order, which"
					+ " the method does not have. Use the name of a parameter, or its position: #p0"),

	BAD_EXPRESSION("BadExpression", Kind.CLASS,
			"DL-601: The key '#id +' of locked method ~BadExpression.run(String) is not an expression:"
					+ " Expression [#id +] @4: EL1042E: Problem parsing right operand. Write SpEL such as"
					+ " \"#order.id\", and fixed text in quotes: \"'nightly'\""),

	UNQUOTED("Unquoted", Kind.CLASS,
			"DL-601: The key 'nightly' of locked method ~Unquoted.run(String) uses 'nightly', which is"
					+ " neither a variable nor a property of #root. Write fixed text in quotes: \"'nightly'\", and"
					+ " an argument with #: \"#order.id\""),

	UNKNOWN_PLACEHOLDER("UnknownPlaceholder", Kind.CLASS,
			"DL-601: The name '${no.such.property}' of @DistributedLock on ~UnknownPlaceholder.run has"
					+ " an unknown placeholder. Define the property, or give it a default: ${name:default}"),

	BAD_DURATION("BadDuration", Kind.CLASS,
			"DL-603: The lease '30' of @DistributedLock on ~BadDuration.run is not a duration. Write a"
					+ " number with a unit, such as \"30s\" or \"500ms\", or ISO-8601 such as \"PT30S\""),

	SHORT_LEASE("ShortLease", Kind.CLASS,
			"DL-511: @DistributedLock on ~ShortLease.run: The lease is PT0.001S, but a lease lasts 10"
					+ " ms to 365 days. Choose a lease longer than the store's slowest answer, such as 30s"),

	NO_FALLBACK("NoFallback", Kind.CLASS,
			"DL-616: The fallback 'missing' of the locked method ~NoFallback.run(String) is not the"
					+ " name of another method of ~NoFallback. Add the method 'Object missing(String)' or 'Object"
					+ " missing(String, LockNotAcquiredException)' to the class, or correct the name"),

	FALLBACK_BESIDE_SKIP("FallbackBesideSkip", Kind.CLASS,
			"DL-616: The fallback 'missing' of the locked method ~FallbackBesideSkip.run(String) would"
					+ " never be called, because onBusy = SKIP skips the call. Remove onBusy = SKIP, or the"
					+ " attribute fallback"),

	BLANK_NAME("BlankName", Kind.CLASS,
			"DL-502: The name ' ' of @DistributedLock on ~BlankName.run is blank. Give the lock a"
					+ " name, or leave the attribute out"),

	NULL_KEY("NullKey", Kind.CALL,
			"DL-501: The key '#id' of locked method ~NullKey.run(String) is null, or has null in it."
					+ " Give each call a key: a null key would make unrelated calls share one lock"),

	BLANK_KEY("BlankKey", Kind.CALL,
			"DL-502: The key '' '' of locked method ~BlankKey.run(String) is blank. Give each call a"
					+ " key: a blank key would make unrelated calls share one lock"),

	EMPTY_KEYS("EmptyKeys", Kind.CALL,
			"DL-503: The key '{}' of locked method ~EmptyKeys.run(String) is an empty collection. Call"
					+ " the method only with at least one element: without a key it would run without a lock"),

	KEY_WITHOUT_TEXT("KeyWithoutText", Kind.CALL,
			"DL-505: The key 'new java.util.Date()' of locked method ~KeyWithoutText.run(String) is a"
					+ " java.util.Date, which has a text that depends on the time zone of the process, so that"
					+ " processes could lock different keys. Use its instant: #date.time, or a type of java.time"),

	FAILING_KEY("FailingKey", Kind.CALL,
			"DL-506: The key '#id.length()' of locked method ~FailingKey.run(String) could not be"
					+ " evaluated: EL1011E: Method call: Attempted to call method length() on null context"
					+ " object. Let the expression fit every argument that the method may be called with"),

	SKIP_OF_PRIMITIVE("SkipOfPrimitive", Kind.CLASS,
			"DL-604: The locked method ~SkipOfPrimitive.work() has onBusy = SKIP, but its result int"
					+ " is primitive and has no value for 'skipped'. Return void, a type that may be null, an"
					+ " Optional or a collection, or use onBusy = FAIL or a fallback"),

	OF_FUTURE("OfFuture", Kind.CLASS,
			"DL-605: The locked method ~OfFuture.work() returns java.util.concurrent.Future, which"
					+ " finishes after the method has returned and its lock was released. Declare the result as CompletableFuture,"
					+ " CompletionStage, Mono or Flux, which hold the lock until they are complete. Or lock the method that"
					+ " does the work"),

	OF_SUSPEND("OfSuspend", Kind.CLASS,
			"DL-605: The locked method ~OfSuspend.work(Continuation) returns the result of a suspend"
					+ " function, which finishes after the method has returned and its lock was released. Declare the result as CompletableFuture,"
					+ " CompletionStage, Mono or Flux, which hold the lock until they are complete. Or lock the method that"
					+ " does the work"),

	UNFINISHED("Unfinished", Kind.CALL, "DL-605: The locked method ~Unfinished.run(String) returned a"
			+ " java.util.concurrent.CompletableFuture that is not finished: its work continues after the"
			+ " lock is released. Declare the result as CompletableFuture,"
			+ " CompletionStage, Mono or Flux, which hold the lock until they are complete. Or lock the method that"
			+ " does the work"),

	OVERLOADED("Overloaded", Kind.CLASS,
			"DL-608: The locked methods ~Overloaded.run[class java.lang.String] and ~Overloaded.run[]"
					+ " have the same default name 'Overloaded.run', so that they would share locks. Give each a"
					+ " name of its own with @DistributedLock(name = \"…\"), or both the same one to share locks"),

	SELF_INVOCATION("SelfInvocation", Kind.SUSPECTED,
			"DL-623: ~SelfInvocation.run (line *) calls the locked method ~SelfInvocation.locked(String) on its"
					+ " own object, past the proxy, so that this call runs without the lock. Call it through the bean, which"
					+ " can be injected into itself as a @Lazy dependency, move it to another bean, or run the work with"
					+ " LockOperations.execute; LockAssert.assertHeld(\"SelfInvocation.locked\") in the locked method makes such a call fail"),

	POST_CONSTRUCTED("PostConstructed", Kind.CLASS,
			"DL-609: The container calls the locked method ~PostConstructed.start() as a callback"
					+ " (@PostConstruct), on the bare object and so without its lock. Move the work to a method"
					+ " of another bean that is annotated, or use LockOperations.execute"),

	INJECTED("Injected", Kind.CLASS,
			"DL-609: The container calls the locked method ~Injected.setEnvironment(Environment) as a"
					+ " callback (@Autowired), on the bare object and so without its lock. Move the work to a"
					+ " method of another bean that is annotated, or use LockOperations.execute"),

	AWARE_OF_NAME("AwareOfName", Kind.CLASS,
			"DL-609: The container calls the locked method ~AwareOfName.setBeanName(String) as a"
					+ " callback (BeanNameAware), on the bare object and so without its lock. Move the work to a"
					+ " method of another bean that is annotated, or use LockOperations.execute"),

	/** Products and prototypes are not closed by the container. */
	INFERRED_CLOSE("InferredClose", Kind.CLASS,
			"DL-609: The container calls the locked method ~InferredClose.close() as a callback (init"
					+ " or destroy method of its bean), on the bare object and so without its lock. Move the work"
					+ " to a method of another bean that is annotated, or use LockOperations.execute"),

	PROPERTY_SET("PropertySet", Kind.BEAN,
			"DL-609: The container calls the locked method ~PropertySet.setLimit(int) as a callback"
					+ " (setter of the property 'limit' of its bean), on the bare object and so without its lock."
					+ " Move the work to a method of another bean that is annotated, or use LockOperations.execute"),

	ASYNC("Asynchronous", Kind.BEAN,
			"DL-612: The locked method ~Asynchronous.run(String) is @Async, but its task is submitted"
					+ " inside the lock, so that the task would run after the lock is released. Let @EnableAsync"
					+ " use proxies (not AdviceMode.ASPECTJ) with its default order, or lock a method that the"
					+ " task calls"),

	TRANSACTED("Transacted", Kind.BEAN,
			"DL-610: The order of the transaction's advisor (0) is not greater than the lock's"
					+ " (2147483547), so that the method ~Transacted.run(String) of the bean 'subject' would wait"
					+ " for its lock inside its transaction. Set distributed-lock.aop.order to a value below 0,"
					+ " or raise the order of @EnableTransactionManagement"),

	/** A bean without a mistake of its own that a post-processor needs early. */
	TOO_EARLY("Correct", Kind.APPLICATION,
			"DL-607: The bean 'subject' has the locked method ~Correct.run(String), but the lock's"
					+ " advisor does not apply to it, so that it would run without its lock. Do not use the bean"
					+ " from a BeanPostProcessor or BeanFactoryPostProcessor (such beans are created too early),"
					+ " let the container create and proxy it, and annotate the interface that callers use if it"
					+ " has a proxy of its own. An object that is registered by hand has no proxy:"
					+ " define it as a @Bean");

	private final String type;

	private final Kind kind;

	private final String message;

	Mistake(String type, Kind kind, String message) {
		this.type = type;
		this.kind = kind;
		this.message = message;
	}

	/** Returns the name of the types that have the mistake. */
	String type() {
		return this.type;
	}

	/** Whether it can only be suspected, and is logged. */
	boolean isOnlySuspected() {
		return this.kind == Kind.SUSPECTED;
	}

	/**
	 * Returns the message.
	 * @param types the class around the types with mistakes
	 * @return the message, with an asterisk for the number of a line
	 */
	String message(Class<?> types) {
		return this.message.replace("~", types.getName() + "$");
	}

	/** Returns the shapes in which it is no mistake: the bean works, and is locked. */
	Set<Shape> harmlessShapes() {
		return switch (this) {
			case FINAL_CLASS -> EnumSet.of(Shape.INTERFACE_PROXY);
			case IN_NO_INTERFACE ->
				EnumSet.of(Shape.CLASS_PROXY, Shape.FACTORY_BEAN, Shape.LAZY, Shape.PROTOTYPE, Shape.SCOPED_PROXY);
			case INFERRED_CLOSE -> EnumSet.of(Shape.FACTORY_BEAN, Shape.PROTOTYPE, Shape.SCOPED_PROXY);
			case TOO_EARLY -> EnumSet.of(Shape.SCOPED_PROXY);
			default -> EnumSet.noneOf(Shape.class);
		};
	}

	/** Returns the shapes in which Spring refuses it before the library sees it. */
	Set<Shape> shapesOfSpring() {
		return (this == FINAL_CLASS) ? EnumSet.of(Shape.FACTORY_BEAN, Shape.SCOPED_PROXY) : EnumSet.noneOf(Shape.class);
	}

	/** Returns what fails. */
	Subject.Phase phase(Shape shape) {
		return switch (this.kind) {
			case CLASS -> shape.isMadeAtStart() ? Subject.Phase.START : Subject.Phase.CREATION;
			case BEAN -> shape.isMadeAtStart() ? Subject.Phase.START
					: (shape == Shape.SCOPED_PROXY) ? Subject.Phase.CALL : Subject.Phase.CREATION;
			case APPLICATION -> Subject.Phase.START;
			case CALL -> Subject.Phase.CALL;
			case SUSPECTED -> Subject.Phase.NONE;
		};
	}

	/** What shows the mistake. */
	private enum Kind {

		/** The class alone. */
		CLASS,
		/** The bean behind its proxies. */
		BEAN,
		/** Another bean, whenever this one is made. */
		APPLICATION,
		/** The values of a call. */
		CALL,
		/** Nothing for certain: the code may never run. */
		SUSPECTED

	}

}
