package io.distributedlock.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/**
 * Test that takes longer than a build has time for: builds leave out the tag
 * {@code soak}. The time-out ends what hangs, on slow machines too; it is no measure of
 * speed.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Tag("soak")
@Timeout(value = 2, unit = TimeUnit.HOURS)
public @interface Soak {

}
