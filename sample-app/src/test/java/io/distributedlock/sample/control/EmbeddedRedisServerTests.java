package io.distributedlock.sample.control;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class EmbeddedRedisServerTests {

	@ParameterizedTest
	@ValueSource(strings = { "url=redis://one", "host=one", "sentinel.master=one", "cluster.nodes=one:1,two:1",
			"cluster.nodes[0]=one:1" })
	void serverOfTheUserTakesItsPlace(String property) {
		new ApplicationContextRunner().withUserConfiguration(EmbeddedRedisServer.class)
			.withPropertyValues("spring.profiles.active=redis", "spring.data.redis." + property)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedRedisServer.class));
	}

}
