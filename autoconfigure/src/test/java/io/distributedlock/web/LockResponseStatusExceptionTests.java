package io.distributedlock.web;

import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class LockResponseStatusExceptionTests {

	@ParameterizedTest
	@CsvSource({ "PT-1S, 1", "PT0S, 1", "PT0.001S, 1", "PT1S, 1", "PT1.000000001S, 2", "PT29.5S, 30",
			"PT8760H, 31536000" })
	void retryTimeIsTheRestOfTheLeaseInWholeSeconds(Duration remaining, String seconds) {
		assertThat(retryAfter(LockHolder.of("vm:16162").withRemaining(remaining))).isEqualTo(seconds);
	}

	@Test
	void retryTimeIsLeftOutWhereTheRestOfTheLeaseIsUnknown() {
		assertThat(retryAfter(LockHolder.of("vm:16162").withHeldFor(Duration.ofSeconds(1)))).isNull();
		assertThat(retryAfter(null)).isNull();
	}

	private @Nullable String retryAfter(@Nullable LockHolder holder) {
		return response(busy(holder)).getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
	}

	@ParameterizedTest
	@MethodSource("transports")
	void lockExceptionIsFoundInWhatTransportsIt(Throwable transport) {
		LockResponseStatusException answer = response(transport);
		assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
		assertThat(answer.getBody().getProperties()).containsEntry("code", "DL-101");
	}

	static Stream<Throwable> transports() {
		return Stream.of(busy(null), new CompletionException(busy(null)),
				new UndeclaredThrowableException(new ExecutionException(busy(null))));
	}

	@Test
	void exceptionOfTheApplicationStaysAsItIs() {
		for (Throwable thrown : new Throwable[] { new IllegalStateException(busy(null)),
				new CompletionException(new IllegalStateException(busy(null))), new CompletionException("", null) }) {
			assertThat(LockResponseStatusException.of(thrown)).isNull();
		}
	}

	@Test
	void wordsOfAServerAreLoggedInOneLine(CapturedOutput output) {
		response(new LockProviderException(LockError.STORE_FAILED, "jdbc",
				"failed: ERROR: out of memory\n  Detail: Failed on request.\r\n", null));
		assertThat(output.getAll().lines().filter((line) -> line.contains("out of memory"))).singleElement()
			.asString()
			.contains("WARN")
			.endsWith("DL-301: Lock store 'jdbc' failed: ERROR: out of memory Detail: Failed on request.");
	}

	private static LockResponseStatusException response(Throwable thrown) {
		LockResponseStatusException response = LockResponseStatusException.of(thrown);
		assertThat(response).isNotNull();
		return response;
	}

	private static LockNotAcquiredException busy(@Nullable LockHolder holder) {
		return new LockNotAcquiredException(LockKey.of("orders", "42"), Duration.ZERO, holder);
	}

}
