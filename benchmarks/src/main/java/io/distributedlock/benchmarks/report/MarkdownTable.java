package io.distributedlock.benchmarks.report;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.contender.Library;

/**
 * A figure as a table of Markdown: medians, and in brackets the ratio to the bare client;
 * where it was measured cold too, both.
 */
final class MarkdownTable {

	private MarkdownTable() {
	}

	static String of(Results results, String scenario, String metric) {
		Selection selection = Selection.of(results, scenario, metric);
		Selection cold = Selection.cold(results, scenario, metric);
		Set<String> stores = selection.stores();
		StringBuilder text = new StringBuilder(
				"| " + selection.unit() + (cold.rows().isEmpty() ? "" : ", warm / cold") + " |");
		stores.forEach((store) -> text.append(' ').append(store).append(" |"));
		text.append("\n|---|").append("---:|".repeat(stores.size())).append('\n');
		for (String contender : selection.contenders()) {
			text.append("| ").append(contender.equals("ours") ? "**ours**" : contender).append(" |");
			stores.forEach((store) -> text.append(' ')
				.append(cell(selection.find(store, contender), cold.find(store, contender)))
				.append(" |"));
			text.append('\n');
		}
		return text.toString();
	}

	/** Returns the nanoseconds and bytes of each call of a scenario without a store. */
	static String ofCosts(Results results, String scenario) {
		StringBuilder text = new StringBuilder("| | ns | bytes |\n|---|---:|---:|\n");
		List<Row> rows = results.rows()
			.stream()
			.filter((row) -> row.scenario().equals(scenario) && row.contender().equals("ours"))
			.toList();
		rows.stream().filter((row) -> row.unit().equals("ns")).forEach((row) -> {
			String bytes = rows.stream()
				.filter((other) -> other.metric().equals(row.metric() + "-allocated"))
				.map((other) -> Numbers.text(other.value()))
				.findFirst()
				.orElse("");
			text.append("| ")
				.append(row.metric())
				.append(" | ")
				.append(Numbers.text(row.value()))
				.append(" | ")
				.append(bytes)
				.append(" |\n");
		});
		return text.toString();
	}

	private static String cell(@Nullable Row row, @Nullable Row cold) {
		if (row == null) {
			return "";
		}
		String value = Numbers.text(row.value()) + ((cold != null) ? " / " + Numbers.text(cold.value()) : "");
		String ratio = ratio(row) + ((cold != null && !ratio(cold).isEmpty()) ? " / " + ratio(cold) : "");
		return ratio.isEmpty() ? value : value + " (" + ratio + ")";
	}

	private static String ratio(Row row) {
		Double ratio = row.ratioToRaw();
		boolean comparable = !row.unit().equals("%") && !Library.of(row.contender()).isRaw();
		return (ratio != null && comparable) ? Numbers.text(ratio) : "";
	}

}
