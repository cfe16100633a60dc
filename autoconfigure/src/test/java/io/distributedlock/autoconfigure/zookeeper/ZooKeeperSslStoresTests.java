package io.distributedlock.autoconfigure.zookeeper;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.Key;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.ssl.jks.JksSslStoreBundle;
import org.springframework.boot.ssl.jks.JksSslStoreDetails;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

import io.distributedlock.zookeeper.TestCertificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Tag("full")
class ZooKeeperSslStoresTests {

	private final ZooKeeperSslStores stores;

	@TempDir
	private Path directory;

	ZooKeeperSslStoresTests() throws Exception {
		this.stores = new ZooKeeperSslStores();
	}

	@AfterEach
	void close() throws Exception {
		this.stores.close();
	}

	private static SslBundle bundle(@Nullable KeyStore keys, @Nullable KeyStore trusted, SslBundleKey key) {
		return SslBundle.of(SslStoreBundle.of(keys, TestCertificates.PASSWORD, trusted), key);
	}

	private static KeyStore keys(String type, String keyPassword, String... owners) throws Exception {
		KeyStore store = KeyStore.getInstance(type);
		store.load(null, null);
		for (String owner : owners) {
			Key key = TestCertificates.load(owner).getKey(owner, TestCertificates.PASSWORD.toCharArray());
			store.setKeyEntry(owner, key, keyPassword.toCharArray(),
					TestCertificates.load(owner).getCertificateChain(owner));
		}
		return store;
	}

	private static Certificate certificate(String owner) throws Exception {
		return TestCertificates.load(owner).getCertificate(owner);
	}

	private KeyStore read(Path file) throws Exception {
		KeyStore store = KeyStore.getInstance("PKCS12");
		try (InputStream input = Files.newInputStream(file)) {
			store.load(input, this.stores.password().toCharArray());
		}
		return store;
	}

	private void assertClientTrustsServer(String alias) throws Exception {
		KeyStore keys = read(this.stores.keyStore());
		assertThat(Collections.list(keys.aliases())).containsExactly(alias);
		assertThat(keys.getKey(alias, this.stores.password().toCharArray()))
			.isEqualTo(TestCertificates.load("client").getKey("client", TestCertificates.PASSWORD.toCharArray()));
		assertThat(keys.getCertificateChain(alias)).containsExactly(certificate("client"));
		assertThat(trusted()).containsExactly(certificate("server"));
	}

	private List<Certificate> trusted() throws Exception {
		KeyStore trusted = read(this.stores.trustStore());
		return Collections.list(trusted.aliases()).stream().map((alias) -> {
			try {
				return trusted.getCertificate(alias);
			}
			catch (KeyStoreException ex) {
				throw new IllegalStateException(ex);
			}
		}).toList();
	}

	@Test
	void storesOfPkcs12AndJksAreWritten() throws Exception {
		for (String type : List.of("PKCS12", "JKS")) {
			Path keys = TestCertificates.save(keys(type, TestCertificates.PASSWORD, "client"),
					this.directory.resolve("keys." + type));
			this.stores.write(SslBundle.of(new JksSslStoreBundle(
					new JksSslStoreDetails(type, null, keys.toString(), TestCertificates.PASSWORD),
					new JksSslStoreDetails("PKCS12", null, TestCertificates.trustStore("server").toString(),
							TestCertificates.PASSWORD))));
			assertClientTrustsServer("client");
		}
	}

	@Test
	void storesOfPemAreWritten() throws Exception {
		PemSslStoreDetails key = new PemSslStoreDetails(null, TestCertificates.certificate("client"),
				TestCertificates.privateKey("client"));
		PemSslStoreDetails trusted = PemSslStoreDetails.forCertificate(TestCertificates.certificate("server"));
		for (String password : new String[] { null, "secret" }) {
			this.stores.write(SslBundle.of(new PemSslStoreBundle(key.withPassword(password), trusted),
					SslBundleKey.of(password)));
			assertClientTrustsServer("ssl");
		}
	}

	@Test
	void onlyTheChosenKeyIsWritten() throws Exception {
		KeyStore several = keys("JKS", "other", "stranger", "client");
		this.stores.write(bundle(several, TestCertificates.trusting("server"), SslBundleKey.of("other", "client")));
		assertClientTrustsServer("client");
		this.stores.write(bundle(several, null, SslBundleKey.of("other")));
		assertThat(Collections.list(read(this.stores.keyStore()).aliases())).containsExactlyInAnyOrder("client",
				"stranger");
	}

	@Test
	void certificateOfAKeyEntryIsTrusted() throws Exception {
		this.stores.write(bundle(null, TestCertificates.load("server"), SslBundleKey.NONE));
		assertThat(trusted()).containsExactly(certificate("server"));
		assertThat(this.stores.keyStore()).doesNotExist();
	}

	@Test
	void unusableStoresAreRefusedAndFormerOnesStay() throws Exception {
		KeyStore server = TestCertificates.trusting("server");
		this.stores.write(bundle(TestCertificates.load("client"), server, SslBundleKey.NONE));
		assertThatExceptionOfType(KeyStoreException.class)
			.isThrownBy(() -> this.stores
				.write(bundle(TestCertificates.load("client"), null, SslBundleKey.of(null, "missing"))))
			.withMessageContaining("'missing'")
			.withMessageContaining("[client]");
		assertThatExceptionOfType(KeyStoreException.class)
			.isThrownBy(() -> this.stores.write(bundle(server, null, SslBundleKey.NONE)))
			.withMessageContaining("no private key");
		assertThatExceptionOfType(KeyStoreException.class)
			.isThrownBy(() -> this.stores.write(bundle(null, TestCertificates.trusting(), SslBundleKey.NONE)))
			.withMessageContaining("no certificate");
		assertThatExceptionOfType(KeyStoreException.class).as("good keys beside a bad trust store")
			.isThrownBy(() -> this.stores
				.write(bundle(TestCertificates.load("renewed"), TestCertificates.trusting(), SslBundleKey.NONE)))
			.withMessageContaining("no certificate");
		assertThatExceptionOfType(UnrecoverableKeyException.class)
			.isThrownBy(() -> this.stores.write(bundle(keys("JKS", "other", "client"), null, SslBundleKey.NONE)));
		assertClientTrustsServer("client");
	}

	@Test
	void filesAreOwnerOnlyAndDeletedWhenClosed() throws Exception {
		this.stores
			.write(bundle(TestCertificates.load("client"), TestCertificates.trusting("server"), SslBundleKey.NONE));
		Path parent = this.stores.keyStore().getParent();
		try (Stream<Path> files = Files.list(parent)) {
			assertThat(files).containsExactlyInAnyOrder(this.stores.keyStore(), this.stores.trustStore())
				.allSatisfy((file) -> assertThat(Files.getPosixFilePermissions(file))
					.isEqualTo(PosixFilePermissions.fromString("rw-------")));
		}
		assertThat(Files.getPosixFilePermissions(parent)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
		try (ZooKeeperSslStores others = new ZooKeeperSslStores()) {
			assertThat(others.password()).hasSize(64).isNotEqualTo(this.stores.password());
		}
		this.stores.close();
		assertThat(parent).doesNotExist();
	}

}
