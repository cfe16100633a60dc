package io.distributedlock.jdbc.dialect;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

import javax.net.SocketFactory;

/**
 * Factory of the socket of a connection that listens for notifications of PostgreSQL. The
 * driver, which creates it by its name, passes a notification on only after it has waited
 * a millisecond for another one. This socket answers at once that there is none.
 * <p>
 * TLS stands above the socket. It keeps what it has read of a record when a read times
 * out.
 */
public final class NotificationSocketFactory extends SocketFactory {

	/** The time-out by which the driver asks whether there is more to read. */
	private static final int PEEK_MILLIS = 1;

	/** Creates a socket that is not connected, the only kind that the driver creates. */
	@Override
	public Socket createSocket() {
		return new PeekingSocket();
	}

	@Override
	public Socket createSocket(String host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
		throw new UnsupportedOperationException();
	}

	/** Socket on which a read with the time-out of a peek does not wait. */
	private static final class PeekingSocket extends Socket {

		private volatile boolean peeking;

		@Override
		public synchronized void setSoTimeout(int millis) throws SocketException {
			super.setSoTimeout(millis);
			this.peeking = millis == PEEK_MILLIS;
		}

		@Override
		public InputStream getInputStream() throws IOException {
			return new FilterInputStream(super.getInputStream()) {

				@Override
				public int read(byte[] buffer, int offset, int length) throws IOException {
					if (PeekingSocket.this.peeking && available() == 0) {
						throw new SocketTimeoutException("Nothing to read");
					}
					return super.read(buffer, offset, length);
				}

			};
		}

	}

}
