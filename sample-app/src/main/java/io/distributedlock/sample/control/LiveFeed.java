package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.http.MediaType;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.distributedlock.sample.SampleApplication;

/**
 * The feed of server-sent events for open pages: the whole state, whenever it has
 * changed.
 */
@RestController
@Profile("!" + SampleApplication.WORKER)
class LiveFeed implements SmartLifecycle {

	/** After the web server, and closed before it. */
	static final int PHASE = WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE + 1;

	private static final long NO_TIMEOUT = 0;

	private static final Duration TICK = Duration.ofMillis(200);

	/**
	 * Ticks after which an unchanged state is sent all the same, to find closed pages.
	 */
	private static final int KEEP_ALIVE_TICKS = 50;

	private final ControlRoom room;

	private final JsonMapper json;

	private final Set<OpenPage> pages = ConcurrentHashMap.newKeySet();

	private final TaskScheduler scheduler;

	private final ExecutorService executor;

	private volatile boolean running;

	private String last = "";

	private int unchanged;

	LiveFeed(ControlRoom room, JsonMapper json, TaskScheduler scheduler) {
		this.room = room;
		this.json = json;
		this.scheduler = scheduler;
		CustomizableThreadFactory threads = new CustomizableThreadFactory("page-");
		threads.setDaemon(true);
		this.executor = Executors.newCachedThreadPool(threads);
	}

	@GetMapping("/api/state")
	ControlRoom.State state() {
		return this.room.state();
	}

	@GetMapping(path = "/api/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	SseEmitter events() {
		SseEmitter emitter = new SseEmitter(NO_TIMEOUT);
		OpenPage page = new OpenPage(emitter);
		emitter.onCompletion(() -> this.pages.remove(page));
		emitter.onError((failure) -> this.pages.remove(page));
		this.pages.add(page);
		this.executor.execute(() -> page.send(json()));
		return emitter;
	}

	private void tick() {
		if (this.pages.isEmpty() || !this.running) {
			return;
		}
		String now = json();
		this.unchanged = now.equals(this.last) ? this.unchanged + 1 : 0;
		if (this.unchanged % KEEP_ALIVE_TICKS == 0) {
			this.last = now;
			this.pages.forEach((page) -> this.executor.execute(() -> page.send(now)));
		}
	}

	private String json() {
		return this.json.writeValueAsString(this.room.state());
	}

	/** An annotated method would be called only after the start of the workers. */
	@Override
	public void start() {
		this.running = true;
		this.scheduler.scheduleWithFixedDelay(this::tick, TICK);
	}

	/** Ends the requests of open pages, for which the web server would wait. */
	@Override
	public void stop() {
		this.running = false;
		this.pages.forEach(OpenPage::close);
		this.executor.shutdownNow();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
