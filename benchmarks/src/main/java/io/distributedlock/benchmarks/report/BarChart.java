package io.distributedlock.benchmarks.report;

import java.util.Locale;
import java.util.Map;

/**
 * A figure as horizontal bars, with a line from the lowest round to the highest. Each
 * store has a scale of its own, because their figures differ by magnitudes.
 */
final class BarChart {

	private static final int WIDTH = 760;

	private static final int LEFT = 150;

	private static final int RIGHT = 110;

	private static final int BAR = 16;

	private static final int STEP = 22;

	private static final int HEADING = 34;

	private static final String STYLE = """
			<style>
			text { font: 12px system-ui, sans-serif; fill: #24292f; }
			.title { font-weight: 600; font-size: 14px; }
			.store { font-weight: 600; }
			.bar { fill: #8c959f; }
			.ours { fill: #0969da; }
			.raw { fill: #d0d7de; }
			.spread { stroke: #24292f; stroke-width: 1.5; }
			@media (prefers-color-scheme: dark) {
			text { fill: #e6edf3; }
			.bar { fill: #6e7681; }
			.ours { fill: #4493f8; }
			.raw { fill: #30363d; }
			.spread { stroke: #e6edf3; }
			}
			</style>
			""";

	private BarChart() {
	}

	static String of(Selection selection, String title) {
		StringBuilder body = new StringBuilder();
		int y = HEADING;
		for (String store : selection.stores()) {
			Map<String, Row> rows = selection.of(store);
			double scale = (WIDTH - LEFT - RIGHT)
					/ Math.max(1e-9, rows.values().stream().mapToDouble(Row::highest).max().orElse(1));
			body.append(text("store", 8, y + 12, store));
			y += STEP;
			for (Row row : rows.values()) {
				append(body, row, y, scale);
				y += STEP;
			}
			y += BAR / 2;
		}
		return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + WIDTH + " " + y + "\" width=\"" + WIDTH
				+ "\" height=\"" + y + "\" role=\"img\" aria-label=\"" + escape(title) + "\">\n<title>" + escape(title)
				+ "</title>\n" + STYLE + text("title", 8, 18, title + " (" + selection.unit() + ")") + body
				+ "</svg>\n";
	}

	private static void append(StringBuilder body, Row row, int y, double scale) {
		String kind = row.contender().equals("ours") ? "ours" : row.contender().startsWith("raw") ? "raw" : "bar";
		body.append(text("name", 24, y + 12, row.contender()));
		body.append(String.format(Locale.ROOT, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
				kind, LEFT, y, Math.max(1, row.value() * scale), BAR));
		body.append(String.format(Locale.ROOT, "<line class=\"spread\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
				LEFT + row.lowest() * scale, LEFT + row.highest() * scale, y + BAR / 2, y + BAR / 2));
		body.append(text("value", (int) (LEFT + row.highest() * scale) + 6, y + 12, Numbers.text(row.value())));
	}

	private static String text(String kind, int x, int y, String text) {
		return "<text class=\"" + kind + "\" x=\"" + x + "\" y=\"" + y + "\">" + escape(text) + "</text>\n";
	}

	private static String escape(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
	}

}
