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
 * Fault of a {@link TcpProxy}, active until it is closed or has taken effect as often as
 * it may. Closing it forwards held packets and cuts connections that lost packets.
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

	/**
	 * Limits this fault to one effect.
	 * @return this fault
	 */
	public WireFault once() {
		this.most = 1;
		return this;
	}

	/**
	 * Sets the delay of {@link Effect#DELAY}.
	 * @param delay the delay
	 * @return this fault
	 */
	public WireFault by(Duration delay) {
		this.delay = delay;
		return this;
	}

	/**
	 * Returns the number of packets to which this fault was applied.
	 * @return the number
	 */
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

	/** Applies the effect and returns whether the packet is to be forwarded. */
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

	/** Effect of a fault on a packet. */
	public enum Effect {

		/** Forwards the packet after a delay. */
		DELAY,
		/** Forwards the packet when the fault is closed. */
		HOLD,
		/** Drops the packet. */
		DROP,
		/** Drops the packet and all later ones of its connection and direction. */
		BLACK_HOLE,
		/** Drops the packet and ends the stream of its direction. */
		HALF_CLOSE,
		/** Drops the packet and resets the connection on both sides. */
		CUT

	}

}
