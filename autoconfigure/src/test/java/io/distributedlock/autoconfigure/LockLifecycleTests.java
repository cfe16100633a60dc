package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class LockLifecycleTests {

	@Test
	void engineThatIsCreatedWhenAStopLooksForEnginesIsStopped() {
		ConfigurableListableBeanFactory beanFactory = mock(ConfigurableListableBeanFactory.class);
		LockLifecycle lifecycle = new LockLifecycle(beanFactory, () -> Duration.ZERO);
		LocalLockProvider provider = new LocalLockProvider();
		try (LockTimer timer = new LockTimer();
				LockTemplate template = new LockTemplate(provider, LockSettings.defaults(), timer, List.of(),
						List.of())) {
			given(beanFactory.containsLocalBean(LockEngines.BEAN_NAME)).willReturn(true);
			given(beanFactory.containsSingleton(LockEngines.BEAN_NAME)).will((call) -> {
				lifecycle.created(new ProviderEngine(provider, "by the test", true, template));
				return false;
			});
			lifecycle.stop();
			assertThat(template.isRunning()).isFalse();
			assertThatExceptionOfType(LockException.class)
				.isThrownBy(() -> template.acquire(LockRequest.of(LockKey.of("order", "42"))))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
		}
	}

}
