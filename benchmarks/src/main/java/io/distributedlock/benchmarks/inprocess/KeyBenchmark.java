package io.distributedlock.benchmarks.inprocess;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import io.distributedlock.LockKey;

/**
 * What it costs to encode a key.
 */
@State(Scope.Benchmark)
public class KeyBenchmark {

	private String number = "4711";

	private String escaped = "a:b%c";

	/** Encodes a number. */
	@Benchmark
	public String keyEncoding() {
		return LockKey.of("orders", this.number).encoded();
	}

	/** Encodes two parts with characters that have to be escaped. */
	@Benchmark
	public String keyEncodingWithEscapes() {
		return LockKey.of("orders", this.number, this.escaped).encoded();
	}

}
