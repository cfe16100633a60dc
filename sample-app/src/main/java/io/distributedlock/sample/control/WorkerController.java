package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.distributedlock.sample.SampleApplication;

/**
 * Endpoints that show the workers, and kill, freeze or restart them.
 */
@RestController
@RequestMapping(WorkerController.PATH)
@Profile("!" + SampleApplication.WORKER)
class WorkerController {

	static final String PATH = "/api/workers";

	private final WorkerPool workers;

	private final FaultInjector faults;

	WorkerController(WorkerPool workers, FaultInjector faults) {
		this.workers = workers;
		this.faults = faults;
	}

	@GetMapping
	List<LaneView> workers() {
		return this.workers.lanes();
	}

	@PostMapping("/{pid}/kill")
	LaneView kill(@PathVariable long pid) {
		Worker worker = find(pid, Worker::isAlive);
		this.faults.kill(worker);
		return worker.view(0);
	}

	@PostMapping("/{pid}/freeze")
	LaneView freeze(@PathVariable long pid, @RequestParam long seconds) {
		if (seconds < 1 || seconds > WorkerPool.LONGEST_FREEZE.toSeconds()) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A worker can be frozen for 1 to "
					+ WorkerPool.LONGEST_FREEZE.toSeconds() + " seconds, not for " + seconds);
		}
		Worker worker = find(pid, Worker::isAlive);
		if (!this.faults.freeze(worker, Duration.ofSeconds(seconds))) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "Worker " + pid + " is frozen already");
		}
		return worker.view(0);
	}

	/** Ends a worker in good order, if it lives, and starts another one in its lane. */
	@PostMapping("/{pid}/restart")
	List<LaneView> restart(@PathVariable long pid) {
		if (!this.workers.restart(find(pid, (worker) -> true))) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "Worker " + pid + " was restarted just now");
		}
		return this.workers.lanes();
	}

	private Worker find(long pid, Predicate<Worker> condition) {
		return this.workers.all()
			.stream()
			.filter((worker) -> worker.pid() == pid && condition.test(worker))
			.findFirst()
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"Process " + pid + " is not one of the workers "
							+ this.workers.all().stream().filter(condition).map(Worker::pid).toList()));
	}

}
