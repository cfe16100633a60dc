package io.distributedlock.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import io.distributedlock.redis.TestRedis;

import static org.assertj.core.api.Assertions.assertThat;

class ScriptTests {

	static Stream<Script> scripts() {
		return Stream.of(Script.ATTEMPT, Script.ATTEMPT_SHARE, Script.RELEASE, Script.RELEASE_SHARE, Script.KEEP,
				Script.WITHDRAW, Script.EXPIRE_RESERVATION, Script.RENEW, Script.CHECK, Script.SERVER, Script.PROBE,
				Script.HEALTH, Script.INSPECT);
	}

	/**
	 * Proxies that check the text of scripts demand it: the command is a literal, and its
	 * key an element of KEYS, by number but for the two scripts that have many keys.
	 */
	@ParameterizedTest
	@MethodSource("scripts")
	void eachCallHasALiteralCommandAndNamesItsKeyByKeys(Script script) {
		String text = new String(script.text(), StandardCharsets.UTF_8);
		String index = Set.of(Script.RENEW, Script.CHECK).contains(script) ? "(?:\\d|i)" : "\\d";
		Pattern call = Pattern.compile("redis\\.p?call\\((?:'(?:TIME|INFO|PUBLISH)'|'[A-Z]+', KEYS\\[" + index + "])");
		assertThat(call.matcher(text).results()).hasSize(text.split("redis\\.p?call\\(").length - 1);
		assertThat(text).doesNotContainPattern("redis\\.p?call\\('[A-Z]+', KEYS\\[\\w+] *\\.\\.")
			.doesNotContainPattern("= *KEYS\\b");
	}

	@ParameterizedTest
	@MethodSource("scripts")
	void digestIsTheServersOwn(Script script) {
		try (Jedis admin = TestRedis.admin()) {
			assertThat(admin.scriptLoad(script.text())).asString(StandardCharsets.US_ASCII).isEqualTo(script.digest());
		}
	}

	@ParameterizedTest
	@MethodSource("scripts")
	void constantsOfTheLayoutAreDeclaredOnceAndNotRepeated(Script script) {
		String constants = RedisLayout.scriptConstants();
		String text = new String(script.text(), StandardCharsets.UTF_8);
		assertThat(text).startsWith(constants);
		assertThat(text.substring(constants.length())).doesNotContainPattern("\\b3[23]\\b")
			.doesNotContainPattern("'[A-Z]'")
			.doesNotContainPattern("\\b(1100|5000|100000|200000)\\b")
			.doesNotContain("'order'");
	}

	@Test
	void leaseIsRoundedUpToMilliseconds() {
		assertThat(ScriptCall.millis(Duration.ofMillis(1500))).asString(StandardCharsets.US_ASCII).isEqualTo("1500");
		assertThat(ScriptCall.millis(Duration.ofNanos(1))).asString(StandardCharsets.US_ASCII).isEqualTo("1");
		assertThat(ScriptCall.millis(Duration.ofMillis(1500).plusNanos(1))).asString(StandardCharsets.US_ASCII)
			.isEqualTo("1501");
	}

	@Test
	void replicasMatterToGrantsAndRenewalsOnly() {
		byte[][] none = {};
		ScriptCall attempt = new ScriptCall(Script.ATTEMPT, none, none);
		assertThat(attempt.needsReplicas()).isTrue();
		assertThat(attempt.hasGrantedOrRenewed(List.of(42L))).isTrue();
		assertThat(attempt.hasGrantedOrRenewed(List.of(0L, new byte[0], 0L, 0L, 0L))).isFalse();
		assertThat(new ScriptCall(Script.RENEW, none, none).hasGrantedOrRenewed(List.of(0L))).isTrue();
		assertThat(new ScriptCall(Script.RELEASE, none, none).needsReplicas()).isFalse();
		assertThat(new ScriptCall(Script.RELEASE, none, none).hasGrantedOrRenewed(List.of(1L))).isFalse();
	}

}
