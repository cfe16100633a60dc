package io.distributedlock.benchmarks;

/**
 * Where a server is reached.
 *
 * @param store what kind of server it is
 * @param address {@code host:port} of each node, separated by commas, or a JDBC URL
 */
public record Endpoint(Store store, String address) {

	/** Returns the user with all rights, who has no password. */
	public String user() {
		return switch (this.store) {
			case POSTGRESQL -> "postgres";
			case MYSQL, MARIADB -> "root";
			default -> "sa";
		};
	}

	/** Returns the port of the first node. */
	public int port() {
		String node = this.address.split(",", 2)[0];
		return Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
	}

}
