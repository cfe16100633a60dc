package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import io.distributedlock.FreePorts;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of what a client gets over HTTP, on one kind of web application.
 */
@ExtendWith(OutputCaptureExtension.class)
abstract class AbstractWebErrorTests {

	private static final String DETAILS = "application/problem+json";

	private final HttpClient client = HttpClient.newHttpClient();

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	private final WebApplicationType type;

	private final Class<?> server;

	AbstractWebErrorTests(WebApplicationType type, Class<?> server) {
		this.type = type;
		this.server = server;
	}

	@AfterEach
	void close() throws Exception {
		while (!this.opened.isEmpty()) {
			this.opened.pop().close();
		}
	}

	@Test
	void errorAnswerIsSpringBootsOwnWithoutProblemDetails(CapturedOutput output) throws Exception {
		ConfigurableApplicationContext context = start(Shop.class, "--spring.mvc.problemdetails.enabled=false",
				"--spring.webflux.problemdetails.enabled=false");
		hold(context, Duration.ofSeconds(50));
		int before = output.getAll().length();
		HttpResponse<String> response = get(context, "/payments/42");
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
		assertThat(response.headers().allValues("Retry-After")).hasSize(1);
		assertThat(response.body()).contains("\"error\":\"Conflict\"", "\"path\":\"/payments/42\"")
			.doesNotContain("web-payments", "DL-");
		assertThat(output.getAll().substring(before)).doesNotContain("web-payments", "409");
	}

	@Test
	void errorPageOfABrowserIsTheApplicationsWithoutProblemDetails() throws Exception {
		ConfigurableApplicationContext context = start(Shop.class, "--spring.mvc.problemdetails.enabled=false",
				"--spring.webflux.problemdetails.enabled=false");
		HttpRequest request = request(context, "/unknown-holder").header("Accept", "text/html").build();
		HttpResponse<String> response = this.client.send(request, HttpResponse.BodyHandlers.ofString());
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/html");
	}

	@Test
	void keyThatTheRequestMakesWrongIsABadRequest(CapturedOutput output) throws Exception {
		ConfigurableApplicationContext context = start(Shop.class);
		int before = output.getAll().length();
		HttpResponse<String> response = get(context, "/payments/%20");
		assertProblem(response, 400, "Bad Request", "DL-502");
		assertThat(response.body()).doesNotContain("#id", "Payments");
		assertOneLine(output.getAll().substring(before), "Payments.pay", "WARN .* : DL-502: The key '#id' of locked");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/payments/42", "/payments/42/joined", "/payments/42/future", "/payments/42/mono" })
	void busyLockIsAConflictToBeRetriedWhenItsLeaseEnds(String path, CapturedOutput output) throws Exception {
		ConfigurableApplicationContext context = start(Shop.class, "--logging.level.io.distributedlock.web=debug");
		assertThat(get(context, path).statusCode()).isEqualTo(200);
		hold(context, Duration.ofSeconds(50));
		int before = output.getAll().length();
		HttpResponse<String> response = get(context, path);
		assertProblem(response, 409, "Conflict", "DL-101");
		assertThat(response.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(1L, 50L);
		assertThat(response.body()).doesNotContain("web-payments", "held by", "local",
				":" + ProcessHandle.current().pid());
		assertOneLine(output.getAll().substring(before), "web-payments:42",
				"DEBUG .* : DL-101: Lock 'web-payments:42' is held by '");
	}

	@Test
	void busyLockWritesNothingToTheLogByDefault(CapturedOutput output) throws Exception {
		ConfigurableApplicationContext context = start(Shop.class);
		hold(context, Duration.ofSeconds(50));
		int before = output.getAll().length();
		assertThat(get(context, "/payments/42").statusCode()).isEqualTo(409);
		assertThat(output.getAll().substring(before)).doesNotContain("web-payments");
	}

	@Test
	void conflictHasNoRetryTimeWhereTheHolderIsUnknown() throws Exception {
		HttpResponse<String> response = get(start(Shop.class), "/unknown-holder");
		assertProblem(response, 409, "Conflict", "DL-101");
		assertThat(response.headers().firstValue("Retry-After")).isEmpty();
	}

	@Test
	void problemIsToldToABrowserToo() throws Exception {
		ConfigurableApplicationContext context = start(Shop.class);
		HttpRequest request = request(context, "/unknown-holder").header("Accept", "text/html").build();
		assertProblem(this.client.send(request, HttpResponse.BodyHandlers.ofString()), 409, "Conflict", "DL-101");
	}

	@Test
	void storeThatIsDownMakesTheServiceUnavailable(CapturedOutput output) throws Exception {
		int port = FreePorts.next();
		ConfigurableApplicationContext context = start(Shop.class, "--distributed-lock.provider=redis",
				"--spring.data.redis.port=" + port);
		int before = output.getAll().length();
		HttpResponse<String> response = get(context, "/payments/42");
		assertProblem(response, 503, "Service Unavailable", "DL-301");
		assertThat(response.body()).doesNotContain("web-payments", "edis", "refused", "127.0.0.1", "localhost");
		assertOneLine(output.getAll().substring(before), ":" + port,
				"WARN .* : DL-301: Lock store 'redis' cannot be reached: .*Connection refused");
	}

	@Test
	void shutdownMakesTheServiceUnavailableWithoutAWarning(CapturedOutput output) throws Exception {
		ConfigurableApplicationContext context = start(Shop.class);
		context.getBean(LockEngines.class).stop();
		int before = output.getAll().length();
		assertProblem(get(context, "/payments/42"), 503, "Service Unavailable", "DL-303");
		assertOneLine(output.getAll().substring(before), "web-payments:42",
				"INFO .* : DL-303: Lock store 'local' grants no locks");
	}

	@ParameterizedTest
	@CsvSource({ "/order-failed, 500", "/order-declined, 422", "/lost, 500" })
	void exceptionsOfTheApplicationAndLostLocksAreNotHandled(String path, int status) throws Exception {
		HttpResponse<String> response = get(start(Shop.class), path);
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.body()).doesNotContain("DL-");
	}

	@Test
	void applicationsOwnHandlerComesFirst() throws Exception {
		ConfigurableApplicationContext context = start(ShopWithHandler.class);
		HttpResponse<String> response = get(context, "/unknown-holder");
		assertThat(response.statusCode()).isEqualTo(423);
		assertThat(response.body()).isEqualTo("own");
	}

	@Test
	void propertyLeavesLockExceptionsToTheApplication() throws Exception {
		HttpResponse<String> response = get(start(Shop.class, "--distributed-lock.web.enabled=false"),
				"/unknown-holder");
		assertThat(response.statusCode()).isEqualTo(500);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
	}

	final ConfigurableApplicationContext start(Class<?> application, String... arguments) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(application, this.server).web(this.type)
			.properties("server.port=0", "spring.mvc.problemdetails.enabled=true",
					"spring.webflux.problemdetails.enabled=true", "spring.application.name=shop",
					"distributed-lock.provider=local",
					"spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
			.run(arguments);
		this.opened.push(context);
		return context;
	}

	private void hold(ConfigurableApplicationContext context, Duration lease) {
		LockLease held = context.getBean(LockOperations.class)
			.acquire(LockRequest.of(LockKey.of("web-payments", "42")).withLease(lease));
		this.opened.push(held);
	}

	private HttpRequest.Builder request(ConfigurableApplicationContext context, String path) {
		String port = context.getEnvironment().getRequiredProperty("local.server.port");
		return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
	}

	final HttpResponse<String> get(ConfigurableApplicationContext context, String path)
			throws IOException, InterruptedException {
		return this.client.send(request(context, path).build(), HttpResponse.BodyHandlers.ofString());
	}

	private static void assertProblem(HttpResponse<String> response, int status, String title, String code) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue(DETAILS);
		assertThat(response.body()).contains("\"status\":" + status, "\"title\":\"" + title + "\"",
				"\"code\":\"" + code + "\"");
		assertThat(response.body()).matches((body) -> status == 400 || body.contains("Try again later."));
		assertThat(response.headers().allValues("Retry-After")).hasSizeLessThan(2);
	}

	/**
	 * A stack trace would repeat the message. Other tests may write to the log meanwhile.
	 */
	private static void assertOneLine(String output, String part, String message) {
		assertThat(output.lines().filter((line) -> line.contains(part))).singleElement()
			.asString()
			.containsPattern(message);
	}

	static LockNotAcquiredException busy() {
		return new LockNotAcquiredException(LockKey.of("web-payments", "42"), Duration.ZERO, null);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Checkout.class)
	static class Shop {

		@Bean
		Payments payments() {
			return new Payments();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Checkout.class, OwnHandler.class })
	static class ShopWithHandler {

		@Bean
		Payments payments() {
			return new Payments();
		}

	}

	static class Payments {

		@DistributedLock(name = "web-payments", key = "#id", waitTime = "0")
		String pay(String id) {
			return "paid " + id;
		}

	}

	@RestController
	static class Checkout {

		private final Payments payments;

		Checkout(Payments payments) {
			this.payments = payments;
		}

		@GetMapping("/payments/{id}")
		String pay(@PathVariable("id") String id) {
			return this.payments.pay(id);
		}

		@GetMapping("/payments/{id}/joined")
		String joined(@PathVariable("id") String id) {
			return future(id).join();
		}

		@GetMapping("/payments/{id}/future")
		CompletableFuture<String> future(@PathVariable("id") String id) {
			return CompletableFuture
				.supplyAsync(() -> this.payments.pay(id), (task) -> new Thread(task, "payments").start())
				.thenApply((receipt) -> receipt + ".");
		}

		@GetMapping("/payments/{id}/mono")
		Mono<String> mono(@PathVariable("id") String id) {
			return Mono.fromCallable(() -> this.payments.pay(id)).subscribeOn(Schedulers.boundedElastic());
		}

		@GetMapping("/unknown-holder")
		String unknownHolder() {
			throw busy();
		}

		@GetMapping("/order-failed")
		String orderFailed() {
			throw new IllegalStateException("The order has failed half way", busy());
		}

		@GetMapping("/order-declined")
		String orderDeclined() {
			throw new OrderDeclinedException(busy());
		}

		@GetMapping("/lost")
		String lost() {
			throw new LockLostException(LockError.LOST, LockKey.of("web-payments", "42"), LossReason.values()[0], null);
		}

	}

	@ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
	static class OrderDeclinedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		OrderDeclinedException(Throwable cause) {
			super(cause);
		}

	}

	@RestControllerAdvice
	static class OwnHandler {

		@ExceptionHandler
		@ResponseStatus(HttpStatus.LOCKED)
		String handle(RuntimeException ex) {
			return "own";
		}

	}

}
