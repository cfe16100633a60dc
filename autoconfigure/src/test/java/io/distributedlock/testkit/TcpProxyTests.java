package io.distributedlock.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

@Timeout(20)
class TcpProxyTests {

	private ServerSocket echo;

	private TcpProxy proxy;

	private Socket client;

	@BeforeEach
	void open() throws IOException {
		this.echo = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
		TcpProxy.start("echo", this::serve);
		this.proxy = new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.echo.getLocalPort()));
		this.client = new Socket(InetAddress.getLoopbackAddress(), this.proxy.port());
	}

	@AfterEach
	void close() throws IOException {
		this.client.close();
		this.proxy.close();
		this.echo.close();
	}

	private void serve() {
		try (Socket socket = this.echo.accept()) {
			socket.getInputStream().transferTo(socket.getOutputStream());
		}
		catch (IOException ex) {
			// The test is over, or the connection was cut.
			return;
		}
	}

	private void send(String text) throws IOException {
		this.client.getOutputStream().write(text.getBytes());
	}

	private int receive() throws IOException {
		this.client.setSoTimeout(10_000);
		return this.client.getInputStream().read();
	}

	private void assertNothingIsReceived() throws IOException {
		this.client.setSoTimeout(300);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.getInputStream().read());
	}

	@Test
	void proxyForwardsPacketsThatNoFaultMatches() throws IOException {
		send("a");
		assertThat(receive()).isEqualTo('a');
	}

	@Test
	void delayAppliesOnce() throws IOException {
		this.proxy.onRequest((packet) -> packet[0] == 'a', Effect.DELAY).by(Duration.ofMillis(150)).once();
		long start = System.nanoTime();
		send("a");
		assertThat(receive()).isEqualTo('a');
		assertThat(ContractSupport.since(start)).isGreaterThanOrEqualTo(Duration.ofMillis(150));
		send("a");
		assertThat(receive()).isEqualTo('a');
	}

	@Test
	void dropLosesOnlyTheMatchingPacket() throws IOException {
		WireFault fault = this.proxy.onReply((packet) -> packet[0] == 'a', Effect.DROP).once();
		send("a");
		// Later it could be dropped together with the next one.
		await().until(() -> fault.hits() == 1);
		assertNothingIsReceived();
		send("b");
		assertThat(receive()).isEqualTo('b');
	}

	@Test
	void blackHoleLosesLaterPacketsToo() throws IOException {
		this.proxy.onReplyTo((packet) -> packet[0] == 'a', Effect.BLACK_HOLE).once();
		send("a");
		assertNothingIsReceived();
		send("b");
		assertNothingIsReceived();
	}

	@Test
	void holdForwardsThePacketWhenClosed() throws IOException {
		WireFault fault = this.proxy.onRequest((packet) -> true, Effect.HOLD).once();
		send("a");
		await().until(() -> fault.hits() == 1);
		assertNothingIsReceived();
		fault.close();
		assertThat(receive()).isEqualTo('a');
	}

	@Test
	void halfCloseEndsTheStreamAndCutResetsTheConnection() throws IOException {
		this.proxy.onReply((packet) -> packet[0] == 'a', Effect.HALF_CLOSE).once();
		send("a");
		assertThat(receive()).isEqualTo(-1);
		this.proxy.onRequest((packet) -> packet[0] == 'b', Effect.CUT).once();
		try (Socket other = new Socket(InetAddress.getLoopbackAddress(), this.proxy.port())) {
			other.getOutputStream().write('b');
			assertThatIOException().isThrownBy(() -> {
				if (other.getInputStream().read() < 0) {
					throw new IOException("closed");
				}
			});
		}
	}

	@Test
	void refuseCutsConnectionsAndRefusesNewOnes() throws IOException {
		send("a");
		assertThat(receive()).isEqualTo('a');
		this.proxy.refuse();
		assertThatIOException().isThrownBy(() -> {
			send("b");
			if (receive() < 0) {
				throw new IOException("closed");
			}
		});
		assertThatIOException()
			.isThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), this.proxy.port()).close());
	}

	@Test
	void faultWithoutEffectFails() {
		TcpProxy unused = new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
		unused.onRequest((packet) -> true, Effect.DROP);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(unused::close);
	}

}
