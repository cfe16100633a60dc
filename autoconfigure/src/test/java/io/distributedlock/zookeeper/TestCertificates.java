package io.distributedlock.zookeeper;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Self-signed certificates, created once per JVM and deleted with it. Each owner has a
 * key store of its name with this one entry.
 */
public final class TestCertificates {

	/** The password of all stores and keys. */
	public static final String PASSWORD = "changeit";

	private static final List<String> OWNERS = List.of("server", "client", "renewed", "stranger");

	private static final Path DIRECTORY = create();

	private TestCertificates() {
	}

	private static Path create() {
		try {
			Path directory = Files.createTempDirectory("certificates");
			Runtime.getRuntime()
				.addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(directory.toFile())));
			Map<String, Process> tools = new LinkedHashMap<>();
			for (String owner : OWNERS) {
				tools.put(owner,
						new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
								"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-genkeypair", "-keystore",
								directory.resolve(owner + ".p12").toString(), "-storetype", "PKCS12", "-storepass",
								PASSWORD, "-alias", owner, "-dname", "CN=" + owner, "-ext",
								"san=ip:127.0.0.1,dns:localhost", "-keyalg", "EC", "-groupname", "secp256r1",
								"-validity", "2")
							.redirectErrorStream(true)
							.redirectOutput(Redirect.DISCARD)
							.start());
			}
			tools.forEach((owner, tool) -> assertThat(tool.onExit().join().exitValue()).as(owner).isZero());
			return directory;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A PKCS12 store of one's key and certificate. */
	public static Path keyStore(String owner) {
		return DIRECTORY.resolve(owner + ".p12");
	}

	/** The store of one's key and certificate. */
	public static KeyStore load(String owner) {
		return ZooKeeperFixture.call(() -> {
			KeyStore store = KeyStore.getInstance("PKCS12");
			try (InputStream input = Files.newInputStream(keyStore(owner))) {
				store.load(input, PASSWORD.toCharArray());
			}
			return store;
		});
	}

	/** Store of the trusted certificates. */
	public static KeyStore trusting(String... owners) {
		return ZooKeeperFixture.call(() -> {
			KeyStore trusted = KeyStore.getInstance("PKCS12");
			trusted.load(null, null);
			for (String owner : owners) {
				trusted.setCertificateEntry(owner, load(owner).getCertificate(owner));
			}
			return trusted;
		});
	}

	/** The same as a file. */
	public static Path trustStore(String... owners) {
		return save(trusting(owners), DIRECTORY.resolve("trusting-" + String.join("-", owners) + ".p12"));
	}

	/** Writes a store to a file. */
	public static Path save(KeyStore store, Path file) {
		return ZooKeeperFixture.call(() -> {
			try (OutputStream output = Files.newOutputStream(file)) {
				store.store(output, PASSWORD.toCharArray());
			}
			return file;
		});
	}

	/** One's certificate, as text. */
	public static String certificate(String owner) {
		return ZooKeeperFixture.call(() -> {
			Certificate certificate = load(owner).getCertificate(owner);
			return pem("CERTIFICATE", certificate.getEncoded());
		});
	}

	/** Returns a private key as text that is not encrypted. */
	public static String privateKey(String owner) {
		try {
			Key key = load(owner).getKey(owner, PASSWORD.toCharArray());
			return pem("PRIVATE KEY", key.getEncoded());
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String pem(String type, byte[] content) {
		String text = Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content);
		return "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n";
	}

}
