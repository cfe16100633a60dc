package io.distributedlock.benchmarks.report;

import java.util.Comparator;
import java.util.List;

/**
 * All results as text, for a terminal.
 */
public final class ResultsTable {

	private ResultsTable() {
	}

	/** Returns a table of the rows. */
	public static String of(List<Row> unsorted) {
		List<Row> rows = unsorted.stream().sorted(Comparator.comparing(ResultsTable::subject)).toList();
		StringBuilder text = new StringBuilder();
		String heading = "";
		for (Row row : rows) {
			String subject = subject(row);
			if (!subject.equals(heading)) {
				heading = subject;
				text.append('\n').append(heading).append('\n');
			}
			text.append(String.format("  %-20s %-20s %12s %-15s %7s  %s%n", row.contender(), row.metric(),
					Numbers.text(row.value()), row.unit(), ratio(row), spread(row)));
		}
		return text.toString();
	}

	private static String subject(Row row) {
		return row.store() + " · " + row.scenario();
	}

	private static String ratio(Row row) {
		Double ratio = row.ratioToRaw();
		return (ratio != null) ? Numbers.text(ratio) + "x" : "";
	}

	private static String spread(Row row) {
		return (row.rounds() == 1) ? ""
				: "[" + Numbers.text(row.lowest()) + " … " + Numbers.text(row.highest()) + "] of " + row.rounds();
	}

}
