package io.distributedlock.mistakes;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import jakarta.annotation.PostConstruct;

import kotlin.coroutines.Continuation;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Async;

import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;

/** Classes of beans with one mistake each. */
final class BeanMistakes {

	private BeanMistakes() {
	}

	interface LockedTask extends Task {

		Object locked(String id);

	}

	static class PrivateMethod implements Task {

		@Override
		public Object run(String id) {
			return hidden();
		}

		@DistributedLock
		private Object hidden() {
			Task.body();
			return "";
		}

	}

	static class FinalMethod implements Task {

		@Override
		@DistributedLock
		public final Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class StaticMethod implements Task {

		@Override
		public Object run(String id) {
			return shared();
		}

		@DistributedLock
		static Object shared() {
			Task.body();
			return "";
		}

	}

	static final class FinalClass implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class InNoInterface implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return "";
		}

		@DistributedLock
		public void extra() {
			Task.body();
		}

	}

	static class UnknownVariable implements Task {

		@Override
		@DistributedLock("#order")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class BadExpression implements Task {

		@Override
		@DistributedLock("#id +")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class Unquoted implements Task {

		@Override
		@DistributedLock("nightly")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class UnknownPlaceholder implements Task {

		@Override
		@DistributedLock(name = "${no.such.property}")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class BadDuration implements Task {

		@Override
		@DistributedLock(lease = "30")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class ShortLease implements Task {

		@Override
		@DistributedLock(lease = "1ms")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class NoFallback implements Task {

		@Override
		@DistributedLock(fallback = "missing")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class FallbackBesideSkip implements Task {

		@Override
		@DistributedLock(onBusy = OnBusy.SKIP, fallback = "missing")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class BlankName implements Task {

		@Override
		@DistributedLock(name = " ")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class NullKey implements Task {

		@Override
		@DistributedLock("#id")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class BlankKey implements Task {

		@Override
		@DistributedLock("' '")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class EmptyKeys implements Task {

		@Override
		@DistributedLock("{}")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class KeyWithoutText implements Task {

		@Override
		@DistributedLock("new java.util.Date()")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class FailingKey implements Task {

		@Override
		@DistributedLock("#id.length()")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class SkipOfPrimitive implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public int work() {
			Task.body();
			return 1;
		}

	}

	static class OfFuture implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@DistributedLock
		public Future<String> work() {
			Task.body();
			return new CompletableFuture<>();
		}

	}

	static class OfSuspend implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@DistributedLock
		public Object work(Continuation<Object> continuation) {
			Task.body();
			return "";
		}

	}

	static class Unfinished implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			return new CompletableFuture<>();
		}

	}

	static class Overloaded implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return "";
		}

		@DistributedLock
		public void run() {
			Task.body();
		}

	}

	static class SelfInvocation implements LockedTask {

		@Override
		public Object run(String id) {
			return locked(id);
		}

		@Override
		@DistributedLock
		public Object locked(String id) {
			Task.body();
			return "";
		}

	}

	static class PostConstructed implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@PostConstruct
		@DistributedLock
		public void start() {
			Task.body();
		}

	}

	static class Injected implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@Autowired
		@DistributedLock
		public void setEnvironment(Environment environment) {
			Task.body();
		}

	}

	static class AwareOfName implements Task, BeanNameAware {

		@Override
		public Object run(String id) {
			return null;
		}

		@Override
		@DistributedLock
		public void setBeanName(String name) {
			Task.body();
		}

	}

	static class InferredClose implements Task, AutoCloseable {

		@Override
		public Object run(String id) {
			return null;
		}

		@Override
		@DistributedLock
		public void close() {
			Task.body();
		}

	}

	static class PropertySet implements Task {

		@Override
		public Object run(String id) {
			return null;
		}

		@DistributedLock
		public void setLimit(int limit) {
			Task.body();
		}

	}

	static class Asynchronous implements Task {

		@Override
		@Async
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return null;
		}

	}

	static class Transacted implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	static class Correct implements Task {

		@Override
		@DistributedLock("#id")
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

	/** Has no mistake. */
	static class Lockable implements Task {

		@Override
		@DistributedLock
		public Object run(String id) {
			Task.body();
			return "";
		}

	}

}
