package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockProvider;

/**
 * The engines of the application, one for each provider. Each is created when something
 * needs it: a locked method, or the bean that an application injects. Health and endpoint
 * need none. An application without locks, or with a mock in place of that bean, needs no
 * store.
 * <p>
 * They stop after the web server, executors and message listeners have stopped, and
 * before connections are closed. All refuse requests before a stop waits for the bodies
 * of the first.
 */
public final class LockEngines implements SmartLifecycle, AutoCloseable {

	/** The name of the only bean of this type. */
	public static final String BEAN_NAME = "distributedLockEngines";

	/** Phases stop from the highest down; applications' own mostly have zero. */
	private static final int PHASE = 1024;

	private final ConfigurableListableBeanFactory beanFactory;

	private final ObjectProvider<SelectedLockProvider> selected;

	private final LockEngineParts parts;

	private final Map<String, Engine> engines = new LinkedHashMap<>();

	private final ReentrantLock lock = new ReentrantLock();

	/** Why engines could not be created, by the names of the providers' beans. */
	private final Map<String, RuntimeException> failures = new ConcurrentHashMap<>();

	private volatile @Nullable Consumer<Engine> creationAction;

	private volatile boolean running;

	/**
	 * Whether a stop came last, not a start. Like {@link #closed}, it is set before
	 * engines are looked for under the lock, under which a new engine looks at it: either
	 * finds the other.
	 */
	private volatile boolean stopped;

	private volatile boolean closed;

	LockEngines(ConfigurableListableBeanFactory beanFactory, ObjectProvider<SelectedLockProvider> selected,
			LockEngineParts parts) {
		this.beanFactory = beanFactory;
		this.selected = selected;
		this.parts = parts;
	}

	/** Has an action receive each engine that is created from now on. */
	void onCreate(Consumer<Engine> action) {
		this.creationAction = action;
	}

	/** Returns the engine of the primary provider. */
	LockTemplate primary() {
		return recorded(BEAN_NAME, () -> of(this.selected.getObject().beanName()));
	}

	/**
	 * Returns the provider that an annotation means, as far as it is known.
	 * @param name the name of a bean or a provider, or {@code null} for the primary one
	 * @return the provider, or {@code null} if a mock is in its place, or no provider has
	 * that name
	 */
	@Nullable LockProvider provider(@Nullable String name) {
		if (name == null) {
			return LockBeans.isMocked(this.beanFactory) ? null : this.selected.getObject().provider();
		}
		List<String> matching = LockBeans.matching(LockBeans.providers(this.beanFactory), name);
		return (matching.size() == 1) ? this.beanFactory.getBean(matching.get(0), LockProvider.class) : null;
	}

	/** Returns the settings of the engines, be they of a context above. */
	public LockSettings settings() {
		return this.parts.settings().getObject();
	}

	/** Returns the name of the primary provider, or a word for a mock in its place. */
	public String primaryName() {
		return LockBeans.isMocked(this.beanFactory) ? "mock" : this.selected.getObject().provider().name();
	}

	/**
	 * Finds a provider.
	 * @param name the name of a bean or a provider
	 * @return the name of its bean
	 * @throws LockConfigurationException if there is none, or it is not clear which
	 */
	String find(String name) {
		Map<String, String> providers = LockBeans.providers(this.beanFactory);
		List<String> matching = LockBeans.matching(providers, name);
		if (matching.size() != 1) {
			throw unknown(name, providers, matching);
		}
		return matching.get(0);
	}

	/** Returns whether a provider is the primary one. */
	boolean isPrimary(String beanName) {
		return beanName.equals(this.selected.getObject().beanName());
	}

	/**
	 * Returns the name by which observers know the provider that an annotation means:
	 * that of the primary one also for a bean that is no provider.
	 */
	public String observedName(@Nullable String name) {
		Map<String, String> providers = (name != null) ? LockBeans.providers(this.beanFactory) : Map.of();
		List<String> matching = (name != null) ? LockBeans.matching(providers, name) : List.of();
		return (matching.size() == 1 && !isPrimary(matching.get(0)))
				? Objects.requireNonNull(providers.get(matching.get(0))) : primaryName();
	}

	private static LockConfigurationException unknown(String name, Map<String, String> providers,
			List<String> matching) {
		if (matching.isEmpty()) {
			return new LockConfigurationException(LockError.UNKNOWN_PROVIDER,
					"its provider is '" + name + "', but the application has only: " + names(providers),
					"Correct the name, or define a LockProvider bean of that name");
		}
		return new LockConfigurationException(LockError.UNKNOWN_PROVIDER,
				"its provider is '" + name + "', but " + matching.size() + " providers have that name",
				"Use the name of the bean: " + String.join(", ", matching));
	}

	/** Returns the names, each with that of the bean where the two differ. */
	private static String names(Map<String, String> providers) {
		return providers.entrySet()
			.stream()
			.map((entry) -> entry.getValue().equals(LockBeans.qualifier(entry.getKey())) ? entry.getValue()
					: entry.getValue() + " (bean '" + entry.getKey() + "')")
			.sorted()
			.collect(Collectors.joining(", "));
	}

	/**
	 * Returns the engine of a provider, and creates it if it is the first to ask. No bean
	 * is looked up under the lock, because the bean factory has locks of its own.
	 * @param beanName the name of the provider's bean
	 */
	public LockTemplate of(String beanName) {
		return recorded(beanName, () -> {
			Engine present = existing(beanName);
			return ((present != null) ? present : create(beanName)).template();
		});
	}

	private LockTemplate recorded(String beanName, Supplier<LockTemplate> creation) {
		try {
			LockTemplate created = creation.get();
			this.failures.remove(beanName);
			return created;
		}
		catch (RuntimeException ex) {
			this.failures.put(beanName, ex);
			throw ex;
		}
	}

	/**
	 * Returns why the last attempt to create an engine has failed, the choice of the
	 * primary provider included, or {@code null} if it has not, or there was none.
	 */
	public @Nullable RuntimeException failure(String beanName) {
		RuntimeException own = this.failures.get(beanName);
		return (own != null) ? own : this.failures.get(BEAN_NAME);
	}

	/** Returns the engine of a provider if something has needed it so far. */
	public @Nullable Engine existing(String beanName) {
		this.lock.lock();
		try {
			return this.engines.get(beanName);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Creates an engine that is closed before its provider. */
	private Engine create(String beanName) {
		SelectedLockProvider chosen = this.selected.getObject();
		LockProvider provider = this.beanFactory.getBean(beanName, LockProvider.class);
		this.beanFactory.registerDependentBean(beanName, BEAN_NAME);
		boolean primary = beanName.equals(chosen.beanName());
		Supplier<LockTemplate> template = this.parts.prepare(provider);
		// Creates them, for a provider of the application that does not know them.
		this.beanFactory.getBeansOfType(LockStorePreparation.class);
		Engine created;
		this.lock.lock();
		try {
			Engine other = this.engines.get(beanName);
			if (other != null) {
				return other;
			}
			created = new Engine(provider, primary ? chosen.reason() : "additional", primary, template.get());
			if (this.stopped) {
				// It holds nothing yet, so that nothing waits.
				created.template().stop(Duration.ZERO);
			}
			if (this.closed) {
				created.template().close();
			}
			this.engines.put(beanName, created);
		}
		finally {
			this.lock.unlock();
		}
		Consumer<Engine> action = this.creationAction;
		if (action != null) {
			action.accept(created);
		}
		return created;
	}

	/** Creates all engines but those with a mock in place of their bean. */
	void createAll() {
		for (String bean : this.beanFactory.getBeanNamesForType(LockTemplate.class, true, false)) {
			if (bean.startsWith(LockBeans.TEMPLATE)) {
				this.beanFactory.getBean(bean);
			}
		}
	}

	/** Returns the engines that were created, the primary one first. */
	public List<Engine> all() {
		this.lock.lock();
		try {
			return this.engines.values().stream().sorted(Comparator.comparing((engine) -> !engine.primary())).toList();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void start() {
		this.stopped = false;
		this.running = true;
		all().forEach((engine) -> engine.template().start());
	}

	@Override
	public void stop() {
		this.running = false;
		this.stopped = true;
		List<Engine> all = all();
		if (!all.isEmpty()) {
			all.forEach((engine) -> engine.template().beginStop());
			Deadline deadline = Deadline.after(this.parts.grace());
			all.forEach((engine) -> engine.template().stop(deadline.remaining()));
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	@Override
	public void close() {
		this.closed = true;
		all().forEach((engine) -> engine.template().close());
	}

	/**
	 * The engine of one provider.
	 *
	 * @param provider the provider
	 * @param reason why it has one, for people to read
	 * @param primary whether it keeps the locks of methods that name no provider
	 * @param template the engine
	 */
	public record Engine(LockProvider provider, String reason, boolean primary, LockTemplate template) {
	}

}
