/**
 * Answers of web applications to exceptions of locks, as the application answers Spring's
 * own, with Spring MVC and WebFlux alike.
 */
@NullMarked
package io.distributedlock.web;

import org.jspecify.annotations.NullMarked;
