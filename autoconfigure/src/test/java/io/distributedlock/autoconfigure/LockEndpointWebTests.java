package io.distributedlock.autoconfigure;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.ProcessLabel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the endpoint and the health over HTTP, as an operator uses them. Tests with
 * the same properties share an application.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class LockEndpointWebTests {

	private static final LockKey HOSTILE = LockKey.of("seats", "13A/../%2e%\r\n\"'\\<script>alert(1)</script>",
			"\u00e4:\u2028");

	/** What lets operators do all that there is. */
	private static final List<String> OPERATED = List.of("--management.endpoint.distributedlocks.access=unrestricted",
			"--distributed-lock.endpoint.show-keys=when-authorized", "--distributed-lock.endpoint.roles=ADMIN");

	/** The applications that were started, by their arguments. */
	private static final Map<List<String>, ConfigurableApplicationContext> contexts = new HashMap<>();

	private final HttpClient client = HttpClient.newHttpClient();

	private final Deque<LockLease> held = new ArrayDeque<>();

	private ConfigurableApplicationContext context;

	@AfterEach
	void release() {
		while (!this.held.isEmpty()) {
			this.held.pop().close();
		}
	}

	@AfterAll
	static void stop() {
		contexts.values().forEach(ConfigurableApplicationContext::close);
		contexts.clear();
	}

	private void start() {
		start(List.of());
	}

	private void start(List<String> arguments) {
		this.context = contexts.computeIfAbsent(arguments, (added) -> new SpringApplicationBuilder(Shop.class)
			.web(WebApplicationType.SERVLET)
			.properties("server.port=0", "spring.application.name=shop", "distributed-lock.provider=jdbc",
					"distributed-lock.call-timeout=10s", "management.endpoints.web.exposure.include=*",
					"management.endpoint.health.show-details=always", "management.endpoint.health.probes.enabled=true",
					"management.health.defaults.enabled=false", "management.health.distributedlocks.enabled=true")
			.run(added.toArray(String[]::new)));
	}

	private LockTemplate locks() {
		return this.context.getBean(LockTemplate.class);
	}

	private LockLease hold(LockKey key) {
		LockLease lease = locks().acquire(LockRequest.of(key).withLease(Duration.ofSeconds(30)));
		this.held.push(lease);
		return lease;
	}

	private HttpResponse<String> send(String method, String path, String user) throws Exception {
		String port = this.context.getEnvironment().getRequiredProperty("local.server.port");
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
			.method(method, HttpRequest.BodyPublishers.noBody());
		if (user != null) {
			request.header("X-User", user);
		}
		return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	private HttpResponse<String> get(String path) throws Exception {
		return send("GET", path, null);
	}

	private static String of(LockKey key) {
		return "/actuator/distributedlocks/jdbc?key=" + URLEncoder.encode(key.encoded(), StandardCharsets.UTF_8);
	}

	private static String of(LockKey key, long token) {
		return of(key) + "&token=" + token;
	}

	private static JsonNode json(HttpResponse<String> response) {
		return JsonMapper.shared().readTree(response.body());
	}

	@Test
	void allLocksAreShownWithMaskedKeysAndTokensAsText() throws Exception {
		start();
		LockLease lease = hold(HOSTILE);
		HttpResponse<String> response = get("/actuator/distributedlocks");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).doesNotContain("script", "13A");
		JsonNode all = json(response);
		assertThat(all.at("/process").asString()).isEqualTo(ProcessLabel.get());
		assertThat(all.at("/methods/0/name").asString()).isEqualTo("Sales.sell");
		assertThat(all.at("/methods/0/keys/0").asString()).isEqualTo("#seat");
		JsonNode held = all.at("/providers/jdbc/held/0");
		assertThat(held.at("/token").isString()).isTrue();
		assertThat(held.at("/token").asString()).isEqualTo(lease.fencingToken().toString());
		assertThat(held.at("/name").asString()).isEqualTo("seats");
		assertThat(held.at("/key").asString()).isEqualTo("******");
		assertThat(held.at("/leaseMillis").asLong()).isEqualTo(30_000);
		JsonNode stored = all.at("/providers/jdbc/store/locks/0");
		assertThat(stored.at("/token").asString()).isEqualTo(lease.fencingToken().toString());
		assertThat(stored.at("/holder").asString()).isEqualTo(ProcessLabel.get());
		assertThat(stored.at("/key").asString()).isEqualTo("******");
		assertThat(all.at("/providers/local/held").isEmpty()).isTrue();
		assertThat(all.at("/providers/local/store/truncated").asBoolean()).isFalse();
	}

	@Test
	void keysAreShownToAuthorizedUsersOnly() throws Exception {
		start(OPERATED);
		hold(HOSTILE);
		assertThat(send("GET", "/actuator/distributedlocks", "eve").body()).doesNotContain("13A");
		assertThat(send("GET", of(HOSTILE), "eve").body()).doesNotContain("13A");
		JsonNode shown = json(send("GET", "/actuator/distributedlocks", "admin"));
		assertThat(shown.at("/providers/jdbc/held/0/key").asString()).isEqualTo(HOSTILE.encoded());
		assertThat(shown.at("/providers/jdbc/store/locks/0/key").asString()).isEqualTo(HOSTILE.encoded());
		HttpResponse<String> one = send("GET", of(HOSTILE), "admin");
		assertThat(one.statusCode()).isEqualTo(200);
		assertThat(one.headers().firstValue("Content-Type").orElseThrow()).contains("json");
		assertThat(LockKey.ofEncoded(json(one).at("/key").asString())).isEqualTo(HOSTILE);
	}

	@Test
	void lockThatIsFreeOrUnknownIsNotFound() throws Exception {
		start();
		assertThat(get(of(LockKey.of("free"))).statusCode()).isEqualTo(404);
		assertThat(get("/actuator/distributedlocks/nosuch?key=a").statusCode()).isEqualTo(404);
		assertThat(get("/actuator/distributedlocks/jdbc").statusCode()).isEqualTo(400);
		assertThat(get("/actuator/distributedlocks/jdbc?key=a%25").statusCode()).isEqualTo(400);
		assertThat(get("/actuator/distributedlocks/jdbc?key=").statusCode()).isEqualTo(400);
	}

	@Test
	void lockIsReleasedByItsTokenAloneAndTheLogTellsWhoAsked(CapturedOutput output) throws Exception {
		start(OPERATED);
		LockLease lease = hold(HOSTILE);
		long token = lease.fencingToken().value();
		for (long stale : new long[] { token - 1, token + 1, token + 1024 }) {
			HttpResponse<String> refused = send("DELETE", of(HOSTILE, stale), "eve");
			assertThat(refused.statusCode()).isEqualTo(409);
			assertThat(json(refused).at("/outcome").asString()).isEqualTo("STALE_TOKEN");
		}
		assertThat(lease.isHeld()).isTrue();
		HttpResponse<String> released = send("DELETE", of(HOSTILE, token), "admin");
		assertThat(released.statusCode()).isEqualTo(200);
		assertThat(json(released).at("/outcome").asString()).isEqualTo("RELEASED");
		assertThat(lease.isHeld()).isFalse();
		assertThat(output.getAll().lines().filter((line) -> line.contains("was requested by 'admin': RELEASED")))
			.singleElement()
			.asString()
			.contains("WARN", "seats:13A", "token " + token)
			.doesNotContain("\u2028");
		assertThat(send("DELETE", of(LockKey.of("free"), token), null).statusCode()).isEqualTo(404);
		assertThat(send("DELETE", "/actuator/distributedlocks/nosuch?key=a&token=1", null).statusCode()).isEqualTo(404);
		assertThat(output).contains("was requested by 'unknown': NOT_HELD");
		for (String invalid : new String[] { "&token=", "&token=x", "&token=-1", "" }) {
			assertThat(send("DELETE", of(HOSTILE) + invalid, null).statusCode()).isEqualTo(400);
		}
	}

	@Test
	void storeThatCannotAnswerIsUnavailable() throws Exception {
		start(OPERATED);
		LockLease lease = hold(HOSTILE);
		JdbcTemplate jdbc = this.context.getBean(JdbcTemplate.class);
		jdbc.execute("ALTER TABLE distributed_lock RENAME TO missing_lock");
		try {
			assertUnavailable(lease);
		}
		finally {
			jdbc.execute("ALTER TABLE missing_lock RENAME TO distributed_lock");
		}
	}

	private void assertUnavailable(LockLease lease) throws Exception {
		HttpResponse<String> response = send("DELETE", of(LockKey.of("other"), 1024), null);
		assertThat(response.statusCode()).isEqualTo(503);
		assertThat(json(response).at("/message").asString()).contains("DL-304");
		assertThat(get(of(LockKey.of("other"))).statusCode()).isEqualTo(503);
		JsonNode known = json(get(of(HOSTILE)));
		assertThat(known.at("/held/0/token").asString()).isEqualTo(lease.fencingToken().toString());
		assertThat(known.at("/error").asString()).contains("DL-304");
		assertThat(json(get("/actuator/distributedlocks")).at("/providers/jdbc/store/error").asString())
			.contains("DL-304");
		HttpResponse<String> health = get("/actuator/health/distributedlocks");
		assertThat(health.statusCode()).isEqualTo(503);
		assertThat(json(health).at("/components/jdbc/status").asString()).isEqualTo("OUT_OF_SERVICE");
		assertThat(json(health).at("/components/local/status").asString()).isEqualTo("UP");
	}

	@Test
	void healthTellsWhereTheLocksAreAndIsNotPartOfReadiness() throws Exception {
		start();
		JsonNode health = json(get("/actuator/health/distributedlocks"));
		assertThat(health.at("/status").asString()).isEqualTo("UP");
		assertThat(health.at("/components/jdbc/details/location").asString()).contains("distributed_lock");
		assertThat(health.at("/components/local/details/location").asString()).isEqualTo("memory of this process");
		assertThat(get("/actuator/health/readiness").body()).doesNotContain("distributedlocks");
	}

	@Test
	void releaseNeedsUnrestrictedAccess() throws Exception {
		start();
		LockLease lease = hold(HOSTILE);
		assertThat(send("DELETE", of(HOSTILE, lease.fencingToken().value()), "admin").statusCode()).isEqualTo(405);
		assertThat(lease.isHeld()).isTrue();
	}

	@Test
	void endpointWithoutAccessDoesNotExist() throws Exception {
		start(List.of("--management.endpoint.distributedlocks.access=none"));
		assertThat(get("/actuator/distributedlocks").statusCode()).isEqualTo(404);
		assertThat(send("DELETE", of(HOSTILE, 1), "admin").statusCode()).isIn(404, 405);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Shop {

		@Bean
		DataSource dataSource() {
			return TestDatabases.h2();
		}

		@Bean
		LocalLockProvider local() {
			return new LocalLockProvider();
		}

		@Bean
		TomcatServletWebServerFactory server() {
			return new TomcatServletWebServerFactory();
		}

		@Bean
		Sales sales() {
			return new Sales();
		}

		/** Authenticates the user that a header names. */
		@Bean
		Filter users() {
			return (request, response, chain) -> {
				String user = ((HttpServletRequest) request).getHeader("X-User");
				chain.doFilter((user != null) ? new UserRequest((HttpServletRequest) request, user) : request,
						response);
			};
		}

	}

	private static final class UserRequest extends HttpServletRequestWrapper {

		private final String user;

		private UserRequest(HttpServletRequest request, String user) {
			super(request);
			this.user = user;
		}

		@Override
		public Principal getUserPrincipal() {
			return () -> this.user;
		}

		@Override
		public boolean isUserInRole(String role) {
			return role.equals("ADMIN") && this.user.equals("admin");
		}

	}

	static class Sales {

		@DistributedLock(key = "#seat")
		public void sell(String seat) {
			// Only its annotation matters.
		}

	}

}
