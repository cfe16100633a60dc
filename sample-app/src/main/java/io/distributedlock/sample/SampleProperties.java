package io.distributedlock.sample;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Size of the sample.
 *
 * @param workers how many processes sell
 * @param sellers how many threads sell in each of them
 * @param capacity how many seats an event has
 * @param thinkTime how long a customer thinks between seeing a free seat and buying it
 * @param workerHeap the heap of each worker, as the JVM's option {@code -Xmx} takes it
 */
@ConfigurationProperties("sample")
public record SampleProperties(int workers, int sellers, int capacity, Duration thinkTime, String workerHeap) {

}
