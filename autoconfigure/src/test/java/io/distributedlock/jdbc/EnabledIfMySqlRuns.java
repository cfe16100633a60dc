package io.distributedlock.jdbc;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.condition.EnabledIf;

/** Skips tests where the MySQL server lacks a library. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "io.distributedlock.jdbc.MySqlServer#isRunnable", disabledReason = MySqlServer.NOT_RUNNABLE)
public @interface EnabledIfMySqlRuns {

}
