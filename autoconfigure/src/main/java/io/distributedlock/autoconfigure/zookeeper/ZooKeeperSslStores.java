package io.distributedlock.autoconfigure.zookeeper;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.util.FileSystemUtils;

/**
 * Stores of an SSL bundle as files, in the form that ZooKeeper's client expects. They are
 * in a directory that only its owner can read, until this is closed.
 * <p>
 * They are encrypted with a random password that exists in the memory of this process
 * alone: files that a killed process did not delete cannot be opened.
 */
final class ZooKeeperSslStores implements AutoCloseable {

	static final String TYPE = "PKCS12";

	private final Path directory;

	private final String password = randomPassword();

	ZooKeeperSslStores() throws IOException {
		boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
		FileAttribute<?>[] ownerOnly = posix
				? new FileAttribute<?>[] {
						PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")) }
				: new FileAttribute<?>[0];
		this.directory = Files.createTempDirectory("distributed-lock-zookeeper-", ownerOnly);
	}

	private static String randomPassword() {
		byte[] bytes = new byte[32];
		new SecureRandom().nextBytes(bytes);
		return HexFormat.of().formatHex(bytes);
	}

	Path keyStore() {
		return this.directory.resolve("key-store.p12");
	}

	Path trustStore() {
		return this.directory.resolve("trust-store.p12");
	}

	/** Returns the password of both stores and of the key. */
	String password() {
		return this.password;
	}

	/**
	 * Writes the stores of the bundle in place of those written before, or none if one of
	 * them cannot be written. Each file is replaced atomically.
	 * @throws KeyStoreException if the key store has no private key, or the trust store
	 * no certificate
	 */
	void write(SslBundle bundle) throws IOException, GeneralSecurityException {
		SslStoreBundle stores = bundle.getStores();
		KeyStore keys = stores.getKeyStore();
		KeyStore trusted = stores.getTrustStore();
		Map<Path, KeyStore> files = new LinkedHashMap<>();
		if (keys != null) {
			files.put(keyStore(), privateKeys(keys, bundle.getKey(), stores.getKeyStorePassword()));
		}
		if (trusted != null) {
			files.put(trustStore(), certificates(trusted));
		}
		Map<Path, Path> written = new LinkedHashMap<>();
		for (Map.Entry<Path, KeyStore> file : files.entrySet()) {
			// One that stays behind after a failure is deleted with the directory.
			Path temporary = Files.createTempFile(this.directory, null, null);
			try (OutputStream output = Files.newOutputStream(temporary)) {
				file.getValue().store(output, this.password.toCharArray());
			}
			written.put(file.getKey(), temporary);
		}
		for (Map.Entry<Path, Path> file : written.entrySet()) {
			Files.move(file.getValue(), file.getKey(), StandardCopyOption.ATOMIC_MOVE,
					StandardCopyOption.REPLACE_EXISTING);
		}
	}

	private KeyStore privateKeys(KeyStore from, SslBundleKey choice, @Nullable String storePassword)
			throws IOException, GeneralSecurityException {
		String alias = choice.getAlias();
		String keyPassword = (choice.getPassword() != null) ? choice.getPassword() : storePassword;
		List<String> aliases = (alias != null) ? List.of(alias) : Collections.list(from.aliases());
		KeyStore to = empty();
		for (String name : aliases) {
			if (from.isKeyEntry(name) && from.getKey(name,
					(keyPassword != null) ? keyPassword.toCharArray() : null) instanceof PrivateKey key) {
				to.setKeyEntry(name, key, this.password.toCharArray(), from.getCertificateChain(name));
			}
		}
		if (to.size() == 0) {
			throw new KeyStoreException("its key store has no private key" + ((alias != null)
					? " under the alias '" + alias + "', but " + Collections.list(from.aliases()) : ""));
		}
		return to;
	}

	private static KeyStore certificates(KeyStore from) throws IOException, GeneralSecurityException {
		KeyStore to = empty();
		for (String name : Collections.list(from.aliases())) {
			Certificate certificate = from.getCertificate(name);
			if (certificate != null) {
				to.setCertificateEntry(name, certificate);
			}
		}
		if (to.size() == 0) {
			throw new KeyStoreException("its trust store has no certificate");
		}
		return to;
	}

	private static KeyStore empty() throws IOException, GeneralSecurityException {
		KeyStore store = KeyStore.getInstance(TYPE);
		store.load(null, null);
		return store;
	}

	@Override
	public void close() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
