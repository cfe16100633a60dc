package io.distributedlock.redis.script;

import java.io.IOException;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisReadOnlyException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

import org.springframework.data.redis.RedisSystemException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests with texts that Redis 6.2.11 and 7.0.15 replied, and those of 7.2 by its source.
 */
class ErrorReplyTests {

	/** Up to 6.2: the command was run, and its error ended the script. */
	private static final String ENDED = "ERR Error running script (call to "
			+ "f_1e0bb70b8d326f5b6ff0cfdf20b2aa8d24162511): @user_script:3: ";

	/** Up to 6.2: the server did not run the command. */
	private static final String NOT_RUN = "@user_script: 3: ";

	/** From 7.0 on. */
	private static final String PLACE = " script: 1e0bb70b8d326f5b6ff0cfdf20b2aa8d24162511, on @user_script:3.";

	@ParameterizedTest
	@ValueSource(strings = { "CROSSSLOT Keys in request don't hash to the same slot",
			"ERR eval/evalsha command keys must be in same slot\r\n", "ERR 'EVAL' command keys must in same slot" })
	void keysOfSeveralSlotsAreRefusedInSeveralWords(String message) {
		assertThat(ErrorReply.of(new JedisDataException(message)).isCrossSlot()).isTrue();
		assertThat(ErrorReply.of(new JedisDataException("ERR unknown: " + message + " as a key")).isCrossSlot())
			.isFalse();
	}

	static Stream<Arguments> codes() {
		String readOnly = "READONLY You can't write against a read only replica.";
		String outOfMemory = "OOM command not allowed when used memory > 'maxmemory'.";
		String fewReplicas = "NOREPLICAS Not enough good replicas to write.";
		String type = "WRONGTYPE Operation against a key holding the wrong kind of value";
		return Stream.of(Arguments.of(readOnly, "READONLY"), Arguments.of(readOnly + PLACE, "READONLY"),
				Arguments.of(NOT_RUN + "-" + readOnly + "\r\n", "READONLY"),
				Arguments.of(ENDED + NOT_RUN + "-" + readOnly, "READONLY"), Arguments.of(outOfMemory + PLACE, "OOM"),
				Arguments.of(ENDED + NOT_RUN + "-" + outOfMemory, "OOM"),
				Arguments.of(ENDED + NOT_RUN + "-" + fewReplicas, "NOREPLICAS"),
				Arguments.of(ENDED + type, "WRONGTYPE"), Arguments.of(type + PLACE, "WRONGTYPE"),
				Arguments.of("NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT"),
				Arguments.of("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
						"BUSY"),
				Arguments.of("BUSYGROUP Consumer Group name already exists", "BUSYGROUP"),
				Arguments.of("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
						"MASTERDOWN"),
				Arguments.of("CLUSTERDOWN Hash slot not served", "CLUSTERDOWN"),
				Arguments.of("ERR Error running script (call to 0a1b): @user_script:2: -" + readOnly, "READONLY"),
				Arguments.of("CROSSSLOT Keys in request don't hash to the same slot", "CROSSSLOT"),
				Arguments.of("MOVED 5646 127.0.0.1:7000", "MOVED"),
				Arguments.of("ERR wrong number of arguments for 'get' command", "ERR"));
	}

	@ParameterizedTest
	@MethodSource("codes")
	void codeIsTheFirstWordOfTheCommandsError(String text, String code) {
		assertThat(clients(text)).extracting(ErrorReply::of).allSatisfy((reply) -> {
			assertThat(reply.code()).isEqualTo(code);
			assertThat(reply.hasCode(Set.of(code, "OTHER"))).isTrue();
			assertThat(reply.hasCode(Set.of("OTHER"))).isFalse();
			assertThat(reply.isDenial()).isFalse();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "ERR unknown command 'EVALSHA', with args beginning with: 'a READONLY key' ': OOM x' ",
			ENDED + "user_script:1: the key READONLY x", ENDED + "user_script:1: READONLY x",
			"ERR user_script:1: READONLY x" + PLACE, "a READONLY key", "key: OOM x", "-- READONLY x", "READONLYx y",
			"script: -READONLY x", "READONLY" })
	void codeElsewhereInTheTextIsNoCode(String text) {
		assertThat(clients(text)).extracting(ErrorReply::of)
			.allSatisfy((reply) -> assertThat(reply.hasCode(Set.of("READONLY", "OOM", "READONLYx"))).isFalse());
	}

	@ParameterizedTest
	@ValueSource(strings = { "NOPERM this user has no permissions to run the 'get' command or its subcommand",
			"NOPERM No permissions to access a key", "NOAUTH Authentication required.",
			"WRONGPASS invalid username-password pair or user is disabled.",
			"ERR unknown command 'EVALSHA', with args beginning with: '0' ",
			"ERR unknown command `EVALSHA`, with args beginning with: `0`, ",
			ENDED + NOT_RUN + "The user executing the script can't run this command or subcommand",
			NOT_RUN + "The user executing the script can't run this command or subcommand",
			"ERR The user executing the script can't run this command or subcommand" + PLACE,
			"ERR The user executing the script can't publish to the channel mentioned in the command" + PLACE,
			"ERR ACL failure in script: User locks has no permissions to run the 'get' command" + PLACE,
			"ERR ACL failure in script: No permissions to access a key" + PLACE,
			ENDED + NOT_RUN + "Unknown Redis command called from Lua script",
			"ERR Unknown Redis command called from script" + PLACE })
	void denialOfARightIsRecognised(String text) {
		assertThat(clients(text)).extracting(ErrorReply::of).allMatch(ErrorReply::isDenial);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ERR the key: ACL failure in script: x", "ERR user_script:1: unknown command x" + PLACE,
			"WRONGTYPE NOPERM x", "OOM unknown command x" })
	void denialElsewhereInTheTextIsNone(String text) {
		assertThat(clients(text)).extracting(ErrorReply::of).noneMatch(ErrorReply::isDenial);
	}

	@Test
	void replyIsThatOfTheClientsException() {
		assertThat(code(new RedisSystemException("OOM of a wrapper", new RedisReadOnlyException("READONLY x"))))
			.isEqualTo("READONLY");
		assertThat(code(new JedisDataException("READONLY x", new IOException("OOM x")))).isEqualTo("READONLY");
		assertThat(code(new JedisMovedDataException("MOVED 1 127.0.0.1:2", new HostAndPort("127.0.0.1", 2), 1)))
			.isEqualTo("MOVED");
		assertThat(code(new IllegalStateException("OOM x", new IOException("no code")))).isNull();
		assertThat(code(new IllegalStateException())).isNull();
	}

	@Test
	void replyToAnotherClientIsTheInnermostMessage() {
		assertThat(code(new IllegalStateException("wrapper", new IOException("READONLY x")))).isEqualTo("READONLY");
	}

	private static @Nullable String code(Throwable ex) {
		return ErrorReply.of(ex).code();
	}

	/** Returns the exceptions of both clients, also as Spring wraps them. */
	private static Stream<RuntimeException> clients(String text) {
		return Stream
			.<Function<String, RuntimeException>>of(RedisCommandExecutionException::new, JedisDataException::new)
			.map((client) -> client.apply(text))
			.flatMap((ex) -> Stream.of(ex, new RedisSystemException("Error in execution of a READONLY key", ex)));
	}

}
