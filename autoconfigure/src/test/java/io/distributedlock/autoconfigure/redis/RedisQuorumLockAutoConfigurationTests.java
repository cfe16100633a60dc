package io.distributedlock.autoconfigure.redis;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.quorum.RedisQuorumLockProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of the properties of a quorum. No server is needed: none is asked by a bean. */
class RedisQuorumLockAutoConfigurationTests {

	private static final String NODES = "distributed-lock.redis.quorum.nodes";

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, SslAutoConfiguration.class,
				RedisLockAutoConfiguration.class, RedisQuorumLockAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=1", "spring.application.name=shop");

	private static String[] nodes(int count) {
		List<String> properties = new ArrayList<>();
		for (int index = 0; index < count; index++) {
			properties.add(NODES + "[" + index + "].host=127.0.0.1");
			properties.add(NODES + "[" + index + "].port=" + (index + 1));
		}
		return properties.toArray(String[]::new);
	}

	@Test
	void namedServersTakeThePlaceOfTheApplicationsRedis() {
		this.runner.withPropertyValues(nodes(3)).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(RedisLockProvider.class);
			assertThat(context.getBean(LockProvider.class)).isInstanceOf(RedisQuorumLockProvider.class);
			assertThat(context.getBean(LockStoreLocation.class).location())
				.isEqualTo("quorum of the servers 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3");
		});
		this.runner.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(RedisLockProvider.class)
			.doesNotHaveBean(RedisQuorumLockProvider.class));
	}

	@Test
	void ownProviderReplacesOurs() {
		this.runner.withPropertyValues(nodes(3))
			.withBean("own", LockProvider.class, io.distributedlock.local.LocalLockProvider::new)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RedisQuorumLockProvider.class));
	}

	@Test
	void eachServerHasItsOwnSettings() {
		this.runner
			.withPropertyValues(NODES + "[0].url=rediss://user:secret@one.example:7000", NODES + "[1].host=two.example",
					NODES + "[1].username=user", NODES + "[1].password=secret", NODES + "[2].host=three.example",
					NODES + "[2].ssl.enabled=true")
			.run((context) -> {
				RedisQuorumProperties properties = context.getBean(RedisQuorumProperties.class);
				assertThat(properties.addresses(null)).extracting((node) -> node.name() + " " + node.uri().isSsl())
					.containsExactly("one.example:7000 true", "two.example:6379 false", "three.example:6379 true");
				assertThat(properties.addresses(null).get(1).uri().getCredentialsProvider()).isNotNull();
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "|nodes is a list of 0 server(s), but a quorum has 3 to 7",
			"[0].host=a|nodes is a list of 1 server(s), but a quorum has 3 to 7",
			"[0].host=a,[1].host=b,[2].host=a|nodes names the server a:6379 twice",
			"[0].host=a,[1].port=7,[2].host=c|nodes[1] is without a host",
			"[0].host=a,[1].host=b,[2].port=0,[2].host=c|nodes[2].port is 0, but must be 1 to 65535",
			"[0].host=a,[1].host=b,[2].url=http://x:secret@y|nodes[2].url is not a URL of Redis",
			"[0].host=a,[1].host=b,[2].url=redis://y,[2].host=z|nodes[2].host is set beside a url",
			"[0].host=a,[1].host=b,[2].url=redis://y,[2].port=6379|nodes[2].port is set beside a url",
			"[0].host=a,[1].host=b,[2].url=redis://y,[2].username=z|nodes[2].username is set beside a url",
			"[0].host=a,[1].host=b,[2].host=y,[2].username=z|nodes[2].username is set without a password",
			"[0].host=a,[1].host=b,[2].host=c,[2].ssl.bundle=x|nodes[2].ssl.bundle is 'x', but there is no such SSL bundle" })
	void mistakesAreNamedWithTheirProperty(String suffixes, String problem) {
		String[] properties = (suffixes != null)
				? List.of(suffixes.split(",")).stream().map((suffix) -> NODES + suffix).toArray(String[]::new)
				: new String[] { NODES + "=" };
		this.runner.withPropertyValues(properties).run((context) -> assertRefused(context, problem));
	}

	private static void assertRefused(ApplicationContext context, String problem) {
		assertThat((org.springframework.boot.test.context.assertj.AssertableApplicationContext) context).getFailure()
			.rootCause()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY))
			.hasMessageContaining("distributed-lock.redis.quorum." + problem)
			.hasMessageNotContaining("secret");
	}

	@Test
	void leaseBeyondTheLongestIsRefused() {
		this.runner.withPropertyValues(nodes(3))
			.withPropertyValues("distributed-lock.lease=6m")
			.run((context) -> assertRefused(context,
					"max-lease is 300000 ms, but distributed-lock.lease is 360000 ms"));
		this.runner.withPropertyValues(nodes(3))
			.withPropertyValues("distributed-lock.redis.quorum.max-lease=25h")
			.run((context) -> assertRefused(context, "max-lease is PT25H, but must be 1 second to 1 day"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "6m|1s|has a lease of PT6M, but the store 'redis' keeps no lock for longer than PT5M (",
					"1m|6m|has a minHold of PT6M, but the store 'redis' keeps no lock for longer than PT5M (" })
	void annotationBeyondTheLongestLeaseFailsTheStart(String lease, String minHold, String problem) {
		this.runner.withPropertyValues(nodes(3))
			.withPropertyValues("job.lease=" + lease, "job.min-hold=" + minHold)
			.withBean(LongJob.class)
			.run((context) -> assertThat(context.getStartupFailure()).isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("LongJob.run")
				.hasMessageContaining(problem + "distributed-lock.redis.quorum.max-lease)"));
		this.runner.withPropertyValues(nodes(3))
			.withPropertyValues("job.lease=5m", "job.min-hold=5m")
			.withBean(LongJob.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void quorumWithoutLettuceIsRefused() {
		this.runner.withPropertyValues(nodes(3))
			.withClassLoader(new FilteredClassLoader("io.lettuce"))
			.run((context) -> assertRefused(context, "nodes is set, but Spring Data Redis with Lettuce is not"));
	}

	/** Bean with a lease and a shortest hold of properties. */
	static class LongJob {

		@DistributedLock(name = "job", lease = "${job.lease}", minHold = "${job.min-hold}")
		void run() {
		}

	}

}
