package io.distributedlock.benchmarks.report;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * The rows of one figure: a line for each contender, a column for each store.
 *
 * @param rows the rows
 */
record Selection(List<Row> rows) {

	private static final List<String> STORES = Arrays.stream(Store.values()).map(Store::label).toList();

	/** Ours first; another build of ours is no contender of the page. */
	private static final List<String> CONTENDERS = Stream
		.concat(Stream.of(Library.OURS), Arrays.stream(Library.values()).filter((library) -> !library.isOurs()))
		.map(Library::label)
		.toList();

	static Selection of(Results results, String scenario, String metric) {
		return new Selection(results.rows()
			.stream()
			.filter((row) -> row.scenario().equals(scenario) && row.metric().equals(metric)
					&& CONTENDERS.contains(row.contender()))
			.sorted(Comparator.comparingInt((Row row) -> STORES.indexOf(row.store()))
				.thenComparingInt((row) -> CONTENDERS.indexOf(row.contender())))
			.toList());
	}

	/** Returns the stores that were measured. */
	Set<String> stores() {
		Set<String> stores = new LinkedHashSet<>();
		this.rows.forEach((row) -> stores.add(row.store()));
		return stores;
	}

	/** Returns the contenders that were measured, ours first. */
	Set<String> contenders() {
		Set<String> contenders = new LinkedHashSet<>();
		CONTENDERS.stream()
			.filter((contender) -> this.rows.stream().anyMatch((row) -> row.contender().equals(contender)))
			.forEach(contenders::add);
		return contenders;
	}

	/** Returns the rows of a store by contender. */
	Map<String, Row> of(String store) {
		Map<String, Row> rows = new LinkedHashMap<>();
		this.rows.stream().filter((row) -> row.store().equals(store)).forEach((row) -> rows.put(row.contender(), row));
		return rows;
	}

	/**
	 * Returns the same figure of JVMs that were not warm; without rows if there is none.
	 */
	static Selection cold(Results results, String scenario, String metric) {
		return of(results, scenario, metric + Measurement.COLD);
	}

	@Nullable Row find(String store, String contender) {
		return of(store).get(contender);
	}

	String unit() {
		return this.rows.isEmpty() ? "" : this.rows.get(0).unit();
	}

}
