package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.distributedlock.sample.SampleApplication;

/**
 * Endpoints that show the workers, and kill or freeze them.
 */
@RestController
@RequestMapping(WorkerController.PATH)
@Profile("!" + SampleApplication.WORKER)
class WorkerController {

	static final String PATH = "/api/workers";

	private final WorkerPool workers;

	private final SalesLedger ledger;

	private final TaskScheduler scheduler;

	WorkerController(WorkerPool workers, SalesLedger ledger, TaskScheduler scheduler) {
		this.workers = workers;
		this.ledger = ledger;
		this.scheduler = scheduler;
	}

	@GetMapping
	List<WorkerState> workers() {
		Map<Long, Integer> ports = this.ledger.workerPorts();
		return this.workers.alive().stream().map((worker) -> state(worker, ports)).toList();
	}

	/** Ends a worker with SIGKILL. */
	@PostMapping("/{pid}/kill")
	WorkerState kill(@PathVariable long pid) {
		WorkerProcess worker = find(pid);
		worker.kill();
		return state(worker, this.ledger.workerPorts());
	}

	/** Stops a worker with SIGSTOP, and continues it some seconds later. */
	@PostMapping("/{pid}/freeze")
	WorkerState freeze(@PathVariable long pid, @RequestParam long seconds) {
		if (seconds < 1 || seconds > WorkerPool.LONGEST_FREEZE.toSeconds()) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A worker can be frozen for 1 to "
					+ WorkerPool.LONGEST_FREEZE.toSeconds() + " seconds, not for " + seconds);
		}
		WorkerProcess worker = find(pid);
		if (!worker.freeze()) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "Worker " + pid + " is frozen already");
		}
		this.scheduler.schedule(worker::thaw, this.scheduler.getClock().instant().plus(Duration.ofSeconds(seconds)));
		return state(worker, this.ledger.workerPorts());
	}

	private WorkerProcess find(long pid) {
		List<WorkerProcess> alive = this.workers.alive();
		return alive.stream()
			.filter((worker) -> worker.pid() == pid)
			.findFirst()
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "Process " + pid
					+ " is not one of the workers " + alive.stream().map(WorkerProcess::pid).toList()));
	}

	private static WorkerState state(WorkerProcess worker, Map<Long, Integer> ports) {
		Integer port = ports.get(worker.pid());
		return new WorkerState(worker.pid(), !worker.isAlive() ? "ended" : worker.isFrozen() ? "frozen" : "running",
				(port != null) ? "http://127.0.0.1:" + port + "/actuator" : null);
	}

	/**
	 * State of a worker in the operating system.
	 *
	 * @param pid the process id
	 * @param state {@code running}, {@code frozen} or {@code ended}
	 * @param actuator the address of its actuator, {@code null} before it is ready
	 */
	record WorkerState(long pid, String state, @Nullable String actuator) {

	}

}
