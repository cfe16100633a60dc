package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What Linux says about the TCP sockets that a process listens on.
 */
final class ListeningSockets {

	private static final String LISTEN = "0A";

	/** 127.0.0.1, the same mapped into IPv6, and ::1, as the kernel prints them. */
	private static final Pattern LOOPBACK = Pattern.compile("(0{16}(FFFF0000))?0100007F:.*|0{24}01000000:.*");

	private ListeningSockets() {
	}

	static List<String> of(long pid) throws IOException {
		Path process = Path.of("/proc", Long.toString(pid));
		Set<String> own = sockets(process);
		List<String> addresses = new ArrayList<>();
		for (String table : List.of("net/tcp", "net/tcp6")) {
			for (String line : Files.readAllLines(process.resolve(table))) {
				String[] columns = line.trim().split("\\s+");
				if (columns[3].equals(LISTEN) && own.contains("socket:[" + columns[9] + "]")) {
					addresses.add(columns[1]);
				}
			}
		}
		return addresses;
	}

	static boolean isLoopback(String address) {
		return LOOPBACK.matcher(address).matches();
	}

	private static Set<String> sockets(Path process) throws IOException {
		try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
			return descriptors.map(ListeningSockets::target).collect(Collectors.toSet());
		}
	}

	private static String target(Path descriptor) {
		try {
			return Files.readSymbolicLink(descriptor).toString();
		}
		catch (IOException ex) {
			return "closed meanwhile";
		}
	}

}
