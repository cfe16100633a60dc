package io.distributedlock.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.condition.EnabledIf;

/** Tests that are reported as skipped where there is no browser. */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "io.distributedlock.sample.Chromium#isInstalled",
		disabledReason = "The packages chromium and chromium-driver are not installed")
@interface RequiresChromium {

}
