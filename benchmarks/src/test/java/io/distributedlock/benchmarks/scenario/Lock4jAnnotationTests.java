package io.distributedlock.benchmarks.scenario;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.aop.LockAnnotationAdvisor;
import com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration;
import com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aop.framework.Advised;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.distributedlock.LockContext;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.server.StoreServer;
import io.distributedlock.interceptor.LockAdvisor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The method of docs/migration/lock4j.md that has both annotations.
 */
@Tag("full")
class Lock4jAnnotationTests {

	@TempDir
	private Path folder;

	@Test
	void methodWithBothAnnotationsHasBothLocksAndLock4jIsOutside() {
		try (StoreServer server = StoreServer.start(Store.REDIS, this.folder);
				ConfigurableApplicationContext context = new SpringApplicationBuilder(Shop.class)
					.web(WebApplicationType.NONE)
					.properties("distributed-lock.provider=redis", "distributed-lock.key-prefix=shop",
							"spring.data.redis.port=" + server.endpoint().port())
					.run()) {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.pay(42)).hasSize(2)
				.anyMatch((key) -> key.startsWith("lock4j:"))
				.anyMatch((key) -> key.startsWith("{shop:"));
			List<?> advisors = Arrays.stream(((Advised) orders).getAdvisors())
				.map(Object::getClass)
				.filter(Set.of(LockAnnotationAdvisor.class, LockAdvisor.class)::contains)
				.toList();
			assertThat(advisors).isEqualTo(List.of(LockAnnotationAdvisor.class, LockAdvisor.class));
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
			DistributedLockAutoConfiguration.class, LockAutoConfiguration.class,
			RedisTemplateLockAutoConfiguration.class })
	@Import(Orders.class)
	static class Shop {

	}

	static class Orders {

		private final StringRedisTemplate redis;

		Orders(StringRedisTemplate redis) {
			this.redis = redis;
		}

		@Lock4j(name = "orders", keys = "#orderId")
		@DistributedLock(name = "orders", key = "#orderId")
		public Set<String> pay(long orderId) {
			LockContext.current().ensureHeld();
			return this.redis.keys("*:orders*");
		}

	}

}
