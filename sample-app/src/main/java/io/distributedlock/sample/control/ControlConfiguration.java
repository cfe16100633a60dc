package io.distributedlock.sample.control;

import org.apache.curator.framework.CuratorFramework;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.EnableScheduling;

import io.distributedlock.sample.SampleApplication;

/**
 * Configuration of the control process. The scheduler thaws workers and feeds pages.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@Profile("!" + SampleApplication.WORKER)
class ControlConfiguration {

	/** The locks use the client that the application has for other purposes. */
	@Bean(initMethod = "start")
	@Profile(EmbeddedZooKeeperServer.PROFILE)
	@ConditionalOnUnset(EmbeddedZooKeeperServer.PROPERTY)
	CuratorFramework curatorFramework(EmbeddedZooKeeperServer server) {
		return server.client();
	}

}
