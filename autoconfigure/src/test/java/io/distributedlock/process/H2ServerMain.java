package io.distributedlock.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.sql.SQLException;

import org.h2.tools.Server;

/** An H2 server that lives as long as its standard input is open. */
final class H2ServerMain {

	private H2ServerMain() {
	}

	public static void main(String[] args) throws SQLException, IOException {
		PrintStream answers = System.out;
		Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start();
		answers.println(LockProcess.ANSWER + server.getPort());
		System.in.transferTo(OutputStream.nullOutputStream());
		server.stop();
	}

}
