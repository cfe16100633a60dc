package io.distributedlock.sample.control;

import java.util.List;
import java.util.Optional;

import org.springframework.context.annotation.Profile;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The current holder, read from the keys of the locks in Redis.
 */
@Component
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedRedisServer.PROFILE)
class CurrentHolderInRedis implements CurrentHolder {

	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> SCRIPT = RedisScript.of(new ClassPathResource("current-holder.lua"),
			List.class);

	private final StringRedisTemplate redis;

	CurrentHolderInRedis(StringRedisTemplate redis) {
		this.redis = redis;
	}

	@Override
	public Optional<HoldingProcess> find() {
		List<?> found = this.redis.execute(SCRIPT, List.of());
		return found.isEmpty() ? Optional.empty()
				: Optional.of(HoldingProcess.of((String) found.get(0), Long.parseLong((String) found.get(1))));
	}

}
