package io.distributedlock.provider;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The name of this process for people to read: host and process id.
 *
 * @since 0.1.0
 */
public final class ProcessLabel {

	private static final int LENGTH = 255;

	private static final String LABEL = create();

	private ProcessLabel() {
	}

	/**
	 * Returns the name of this process.
	 * @return host and process id, at most 255 characters
	 */
	public static String get() {
		return LABEL;
	}

	private static String create() {
		String suffix = ":" + ProcessHandle.current().pid();
		String host = host();
		return host.substring(0, Math.min(host.length(), LENGTH - suffix.length())) + suffix;
	}

	/**
	 * Reads the environment first, because a name server that does not answer would delay
	 * the start.
	 */
	private static String host() {
		for (String variable : new String[] { "HOSTNAME", "COMPUTERNAME" }) {
			String name = System.getenv(variable);
			if (name != null && !name.isBlank()) {
				return name;
			}
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
