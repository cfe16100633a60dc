package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A disturbance of a {@link TcpProxy}, in force until it is closed, or until it has taken
 * effect as often as it may. What is held back goes on when it is closed; connections
 * that lost bytes are cut then.
 */
public final class WireFault implements AutoCloseable {

	private final TcpProxy.@Nullable Direction direction;

	private final Predicate<byte[]> packet;

	private final Effect effect;

	private final boolean reply;

	private final AtomicInteger hits = new AtomicInteger();

	private final CountDownLatch lifted = new CountDownLatch(1);

	private final Set<ProxyLink> broken = ConcurrentHashMap.newKeySet();

	private volatile int most = Integer.MAX_VALUE;

	private volatile Duration delay = Duration.ZERO;

	WireFault(TcpProxy.@Nullable Direction direction, Predicate<byte[]> packet, Effect effect, boolean reply) {
		this.direction = direction;
		this.packet = packet;
		this.effect = effect;
		this.reply = reply;
	}

	/** Takes effect once only. */
	public WireFault once() {
		this.most = 1;
		return this;
	}

	/** How long a {@link Effect#DELAY delayed} packet takes. */
	public WireFault by(Duration delay) {
		this.delay = delay;
		return this;
	}

	/** How often it took effect. */
	public int hits() {
		return this.hits.get();
	}

	void assertTookEffect() {
		assertThat(hits()).as("effects of fault %s", this.effect).isPositive();
	}

	boolean isReply() {
		return this.reply;
	}

	boolean claims(TcpProxy.Direction way, byte[] bytes) {
		return (this.direction == null || this.direction == way) && this.lifted.getCount() > 0
				&& this.hits.get() < this.most && this.packet.test(bytes)
				&& this.hits.getAndUpdate((count) -> (count < this.most) ? count + 1 : count) < this.most;
	}

	/** Whether the packet is to be forwarded. */
	boolean apply(ProxyLink link, TcpProxy.Direction way) throws InterruptedException {
		switch (this.effect) {
			case DELAY -> this.lifted.await(this.delay.toNanos(), TimeUnit.NANOSECONDS);
			case HOLD -> this.lifted.await();
			case DROP -> this.broken.add(link);
			case BLACK_HOLE -> {
				this.broken.add(link);
				link.swallow(way);
			}
			case HALF_CLOSE -> link.halfClose(way);
			case CUT -> link.cut();
		}
		return this.effect == Effect.DELAY || this.effect == Effect.HOLD;
	}

	@Override
	public void close() {
		this.lifted.countDown();
		this.broken.forEach(ProxyLink::cut);
	}

	/** What becomes of a packet. */
	public enum Effect {

		/** It goes on later. */
		DELAY,
		/** It goes on when the fault is closed. */
		HOLD,
		/** It is lost. */
		DROP,
		/** It is lost, and all that follow it in its direction. */
		BLACK_HOLE,
		/** It is lost, and its receiver learns that nothing more will come. */
		HALF_CLOSE,
		/** It is lost, and the connection is reset for both. */
		CUT

	}

}
