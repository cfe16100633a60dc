package io.distributedlock.redis;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Qualifier of the {@code RedisConnectionFactory} bean that locks use instead of the
 * application's other ones, to keep locks on a server of their own: a cache may evict
 * them. Define it with {@code @Bean(defaultCandidate = false)}, so that the factory of
 * the application remains the one that is auto-configured.
 *
 * @since 0.1.0
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface DistributedLockConnectionFactory {

}
