package io.distributedlock.engine.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.engine.ManualEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link NodeThreads}.
 */
class NodeThreadsTests {

	private final CountDownLatch mayGoOn = new CountDownLatch(1);

	private final LockTimer timer = new LockTimer();

	private final ThreadedEnvironment environment = new ThreadedEnvironment("test", this.timer,
			new CallbackThreads(this.timer));

	private final NodeThreads threads = new NodeThreads(this.environment, Work.ATTEMPTS);

	@AfterEach
	void stop() {
		this.mayGoOn.countDown();
		this.environment.close();
		this.timer.close();
	}

	@Test
	void nodeThatHangsLeavesAThreadForOthers() throws InterruptedException {
		CountDownLatch hangingDone = new CountDownLatch(5);
		for (int i = 0; i < 5; i++) {
			this.threads.execute("hanging", () -> {
				waitForEnd();
				hangingDone.countDown();
			}, NodeThreadsTests::fail);
		}
		CountDownLatch healthy = new CountDownLatch(3);
		for (int i = 0; i < 3; i++) {
			this.threads.execute("healthy", healthy::countDown, NodeThreadsTests::fail);
		}
		assertThat(healthy.await(30, TimeUnit.SECONDS)).isTrue();
		this.mayGoOn.countDown();
		assertThat(hangingDone.await(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void manyNodesThatHangLeaveAThreadForTheLast() throws InterruptedException {
		for (int i = 0; i < 40; i++) {
			this.threads.execute("hanging-" + i % 20, this::waitForEnd, NodeThreadsTests::fail);
		}
		CountDownLatch healthy = new CountDownLatch(3);
		for (int i = 0; i < 3; i++) {
			this.threads.execute("healthy", healthy::countDown, NodeThreadsTests::fail);
		}
		assertThat(healthy.await(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void tasksOfANodeRunInOrderAndOneThatFailsHoldsUpNone() {
		ManualEnvironment manual = new ManualEnvironment();
		NodeThreads nodes = new NodeThreads(manual, Work.ATTEMPTS);
		List<Integer> order = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			int number = i;
			nodes.execute("node", () -> order.add(number), NodeThreadsTests::fail);
		}
		manual.runTasks();
		assertThat(order).containsExactly(0, 1, 2, 3, 4);
	}

	@Test
	void repeatedTasksRunAfterAllOthers() {
		ManualEnvironment manual = new ManualEnvironment();
		NodeThreads nodes = new NodeThreads(manual, Work.ATTEMPTS, 1);
		List<Integer> order = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			int number = i;
			nodes.execute("node", number % 2 == 1, () -> order.add(number), NodeThreadsTests::fail);
		}
		manual.runTasks();
		assertThat(order).containsExactly(0, 2, 4, 1, 3, 5);
	}

	@Test
	void taskThatComesAgainIsNotPassedWithoutEnd() {
		ManualEnvironment manual = new ManualEnvironment();
		NodeThreads nodes = new NodeThreads(manual, Work.ATTEMPTS, 1);
		List<String> order = new ArrayList<>();
		nodes.execute("node", true, () -> order.add("running"), NodeThreadsTests::fail);
		nodes.execute("node", true, () -> order.add("again"), NodeThreadsTests::fail);
		for (int i = 0; i < 8; i++) {
			nodes.execute("node", false, () -> order.add("first"), NodeThreadsTests::fail);
		}
		manual.runTasks();
		assertThat(order).startsWith("running", "first", "first", "first", "again", "first");
	}

	@Test
	void taskWithoutAThreadIsTold() {
		this.environment.close();
		List<Throwable> rejections = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			this.threads.execute("node", () -> {
				throw new IllegalStateException("runs although its threads have ended");
			}, rejections::add);
		}
		assertThat(rejections).hasSize(4).allMatch(RejectedExecutionException.class::isInstance);
	}

	private void waitForEnd() {
		try {
			assertThat(this.mayGoOn.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void fail(Throwable rejection) {
		throw new AssertionError(rejection);
	}

}
