package com.example.shop;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.jar.Manifest;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class ShopApplicationTests {

	@Test
	void methodIsLockedInTheDatabase() {
		try (ConfigurableApplicationContext context = SpringApplication.run(ShopApplication.class)) {
			LockRequest request = LockRequest.of(LockKey.of("orders", "42"));
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(context.getBean(Orders.class).pay(42)).startsWith("Order 42 is paid under the token ");
			try (LockLease lease = locks.tryAcquire(request)) {
				assertThat(lease).isNotNull();
				assertThat(locks.tryAcquire(request)).isNull();
			}
			assertThat(context.getBean(JdbcTemplate.class)
				.queryForList("SELECT UTF8TOSTRING(lock_key) FROM distributed_lock", String.class))
				.contains("shop:orders:42");
		}
	}

	@Test
	void starterIsNoJarToPackage() throws IOException {
		assertThat(Collections.list(getClass().getClassLoader().getResources("META-INF/MANIFEST.MF")))
			.filteredOn((manifest) -> manifest.getPath().contains("distributed-lock-spring-boot-starter"))
			.singleElement()
			.extracting(ShopApplicationTests::jarType)
			.isEqualTo("dependencies-starter");
	}

	private static String jarType(URL manifest) {
		try (var input = manifest.openStream()) {
			return new Manifest(input).getMainAttributes().getValue("Spring-Boot-Jar-Type");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
