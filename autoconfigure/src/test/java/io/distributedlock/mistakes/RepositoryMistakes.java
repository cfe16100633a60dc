package io.distributedlock.mistakes;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import kotlin.coroutines.Continuation;

import org.springframework.data.annotation.Id;
import org.springframework.data.repository.Repository;
import org.springframework.scheduling.annotation.Async;

import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;

/** Repositories with one mistake each, in methods that Spring Data does not implement. */
final class RepositoryMistakes {

	private RepositoryMistakes() {
	}

	static class Item {

		@Id
		String id;

	}

	interface PrivateMethod extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return hidden();
		}

		@DistributedLock
		private Object hidden() {
			Task.body();
			return "";
		}

	}

	interface StaticMethod extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return shared();
		}

		@DistributedLock
		static Object shared() {
			Task.body();
			return "";
		}

	}

	interface UnknownVariable extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("#order")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface BadExpression extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("#id +")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface Unquoted extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("nightly")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface UnknownPlaceholder extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(name = "${no.such.property}")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface BadDuration extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(lease = "30")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface ShortLease extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(lease = "1ms")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface NoFallback extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(fallback = "missing")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface FallbackBesideSkip extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(onBusy = OnBusy.SKIP, fallback = "missing")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface BlankName extends Task, Repository<Item, String> {

		@Override
		@DistributedLock(name = " ")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface NullKey extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("#id")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface BlankKey extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("' '")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface EmptyKeys extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("{}")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface KeyWithoutText extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("new java.util.Date()")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface FailingKey extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("#id.length()")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface SkipOfPrimitive extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return null;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		default int work() {
			Task.body();
			return 1;
		}

	}

	interface OfFuture extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return null;
		}

		@DistributedLock
		default Future<String> work() {
			Task.body();
			return new CompletableFuture<>();
		}

	}

	interface OfSuspend extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return null;
		}

		@DistributedLock
		default Object work(Continuation<Object> continuation) {
			Task.body();
			return "";
		}

	}

	interface Unfinished extends Task, Repository<Item, String> {

		@Override
		@DistributedLock
		default Object run(String id) {
			return new CompletableFuture<>();
		}

	}

	interface Overloaded extends Task, Repository<Item, String> {

		@Override
		@DistributedLock
		default Object run(String id) {
			Task.body();
			return "";
		}

		@DistributedLock
		default void run() {
			Task.body();
		}

	}

	interface SelfInvocation extends Task, Repository<Item, String> {

		@Override
		default Object run(String id) {
			return locked(id);
		}

		@DistributedLock
		default Object locked(String id) {
			Task.body();
			return "";
		}

	}

	interface Asynchronous extends Task, Repository<Item, String> {

		@Override
		@Async
		@DistributedLock
		default Object run(String id) {
			Task.body();
			return null;
		}

	}

	interface Transacted extends Task, Repository<Item, String> {

		@Override
		@DistributedLock
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	interface Correct extends Task, Repository<Item, String> {

		@Override
		@DistributedLock("#id")
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

	/** Has no mistake. */
	interface Lockable extends Task, Repository<Item, String> {

		@Override
		@DistributedLock
		default Object run(String id) {
			Task.body();
			return "";
		}

	}

}
