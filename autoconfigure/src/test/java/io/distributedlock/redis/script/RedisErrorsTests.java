package io.distributedlock.redis.script;

import java.net.ConnectException;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;

import static org.assertj.core.api.Assertions.assertThat;

class RedisErrorsTests {

	private static RuntimeException error(String message) {
		return new IllegalStateException("client", new IllegalArgumentException(message));
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOADING", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN" })
	void transientErrorMayBeRepeatedAndSentNothing(String code) {
		RuntimeException ex = error(code + " and more");
		assertThat(RedisErrors.isTransient(ex)).isTrue();
		assertThat(RedisErrors.translate(ex, false).isEffectUnknown()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "READONLY, WRITES_REFUSED", "OOM, WRITES_REFUSED", "NOREPLICAS, WRITES_REFUSED",
			"MISCONF, WRITES_REFUSED", "BUSY, STORE_FAILED", "CROSSSLOT, STORE_FAILED", "NOSCRIPT, STORE_FAILED" })
	void refusalIsNotRepeatedAndSentNothing(String code, LockError expected) {
		RuntimeException ex = error("ERR Error running script (call to f_1e0bb70b8d326f5b6ff0cfdf20b2aa8d24162511): "
				+ "@user_script:12: @user_script: 12: -" + code + " and more");
		assertThat(RedisErrors.isTransient(ex)).isFalse();
		LockProviderException translated = RedisErrors.translate(ex, false);
		assertThat(translated.error()).isEqualTo(expected);
		assertThat(translated.isTransient()).isTrue();
		assertThat(translated.isEffectUnknown()).isFalse();
		assertThat(translated).hasMessageContaining("refused: ERR").hasMessageContaining(code);
	}

	@Test
	void refusalOfACommandThatWasSentTwiceLeavesTheOutcomeUnknown() {
		assertThat(RedisErrors.translate(error("OOM command not allowed"), true).isEffectUnknown()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "NOPERM this user has no permissions", "NOAUTH Authentication required.",
			"WRONGPASS invalid username", "The user executing the script can't access at least one of the keys",
			"ERR ACL failure in script: User locks has no permissions to run the 'set' command",
			"ERR unknown command 'EVALSHA'", "No permissions to access a channel" })
	void deniedRightIsNotPermitted(String message) {
		RuntimeException ex = error(message);
		assertThat(RedisErrors.isDenied(ex)).isTrue();
		assertThat(RedisErrors.translate(ex, false).error()).isEqualTo(LockError.NOT_PERMITTED);
		assertThat(RedisErrors.notConnected(ex).error()).isEqualTo(LockError.NOT_PERMITTED);
	}

	@ParameterizedTest
	@ValueSource(strings = {
			"ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array",
			"ERR bad lua script for redis cluster, first parameter of redis.call/redis.pcall must be a single literal "
					+ "string",
			"ERR command eval not support for normal user" })
	void proxyThatRefusesTheScriptItselfIsUnsuitableAndTheSettingIsNamed(String message) {
		LockProviderException translated = RedisErrors.translate(error(message), false);
		assertThat(translated.error()).isEqualTo(LockError.STORE_UNSUITABLE);
		assertThat(translated).hasMessageContaining("script_check_enable").hasMessageContaining(message);
	}

	@Test
	void timeoutOfTheClientIsATimeoutWithAnUnknownOutcome() {
		RuntimeException ex = new IllegalStateException(new TimeoutException("after 1 s"));
		LockProviderException translated = RedisErrors.translate(ex, false);
		assertThat(translated.error()).isEqualTo(LockError.STORE_TIMEOUT);
		assertThat(translated).hasMessageContaining("distributed-lock.call-timeout");
		assertThat(translated.isEffectUnknown()).isTrue();
		assertThat(RedisErrors.notConnected(ex).error()).isEqualTo(LockError.STORE_TIMEOUT);
		assertThat(RedisErrors.notConnected(ex).isEffectUnknown()).isFalse();
	}

	@Test
	void renewalEndsByTheLeaseToo() {
		assertThat(RedisErrors.timedOut(CallKind.RENEWAL)).hasMessageContaining("a sixth of the lease");
		assertThat(RedisErrors.timedOut(CallKind.RELEASE)).hasMessageEndingWith("(distributed-lock.call-timeout)");
	}

	@Test
	void otherErrorIsAFailureWithTheServersWords() {
		assertThat(RedisErrors.translate(error("WRONGTYPE Operation against a key"), false))
			.hasMessageContaining("failed: WRONGTYPE Operation against a key")
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isTrue());
	}

	@Test
	void refusedConnectionIsNamedAsTheClientKnowsIt() {
		ConnectException refused = new ConnectException("Connection refused");
		Exception netty = new ConnectException("Connection refused: /127.0.0.1:6379");
		netty.initCause(refused);
		assertThat(RedisErrors.notConnected(new IllegalStateException("Unable to connect", netty)))
			.hasMessageEndingWith("cannot be reached: Connection refused: /127.0.0.1:6379");
		RuntimeException jedis = new IllegalStateException("Failed to connect to 127.0.0.1:6379.");
		jedis.addSuppressed(refused);
		assertThat(RedisErrors.notConnected(new IllegalStateException("Cannot get a connection", jedis)))
			.hasMessageEndingWith("cannot be reached: Failed to connect to 127.0.0.1:6379. (Connection refused)");
	}

	@Test
	void suppressedExceptionOfReactorIsNoCause() {
		RuntimeException redirected = error("ERR unknown");
		redirected.getCause().addSuppressed(new Exception("#block terminated with an error"));
		assertThat(RedisErrors.translate(redirected, false)).hasMessageEndingWith("failed: ERR unknown");
		redirected.getCause().addSuppressed(new ConnectException("Connection refused"));
		assertThat(RedisErrors.translate(redirected, false))
			.hasMessageEndingWith("failed: ERR unknown (Connection refused)");
	}

	@Test
	void codesAreFoundAtTheBeginningOfAnErrorOnly() {
		assertThat(RedisErrors.isUnknownScript(error("NOSCRIPT No matching script."))).isTrue();
		assertThat(RedisErrors.isSlotMigrating(error("TRYAGAIN Multiple keys request"))).isTrue();
		assertThat(RedisErrors.isMoved(error("MOVED 5646 127.0.0.1:7000"))).isTrue();
		assertThat(RedisErrors.isCrossSlot(error("CROSSSLOT Keys in request"))).isTrue();
		assertThat(RedisErrors.isMoved(error("the key REMOVED it"))).isFalse();
		assertThat(RedisErrors.isMoved(new IllegalStateException())).isFalse();
	}

	@Test
	void translatedExceptionStaysAsItIs() {
		LockProviderException ex = RedisErrors.timedOut(new TimeoutException());
		assertThat(RedisErrors.translate(ex, false)).isSameAs(ex);
		assertThat(RedisErrors.translate(ex, true)).isSameAs(ex);
		LockProviderException unsent = RedisErrors.notCalledInTime();
		assertThat(RedisErrors.translate(unsent, false)).isSameAs(unsent);
	}

	@Test
	void lastRunThatWasNotSentLeavesTheEffectOfTheFirstUnknown() {
		LockProviderException translated = RedisErrors.translate(RedisErrors.notCalledInTime(), true);
		assertThat(translated.isEffectUnknown()).isTrue();
		assertThat(translated.error()).isEqualTo(LockError.STORE_TIMEOUT);
	}

	@Test
	void failureOfACallThatWasNeverSentIsWithoutEffect() {
		assertThat(RedisErrors.notSent(error("Connection refused")).isEffectUnknown()).isFalse();
		LockProviderException timedOut = RedisErrors.notSent(RedisErrors.timedOut(new TimeoutException()));
		assertThat(timedOut.isEffectUnknown()).isFalse();
		assertThat(timedOut.error()).isEqualTo(LockError.STORE_TIMEOUT);
		LockProviderException closed = RedisErrors.closed(null);
		assertThat(RedisErrors.notSent(closed)).isSameAs(closed);
	}

}
