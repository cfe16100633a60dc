package io.distributedlock.sample.control;

import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Objects;
import java.util.stream.Collectors;

import org.springframework.web.util.HtmlUtils;

import io.distributedlock.sample.control.WorkerController.WorkerState;

/**
 * The page that shows the latest results, the workers, and the commands that the control
 * process takes. It loads nothing, and a browser reloads it every five seconds.
 *
 * @param server the address of the control process, such as {@code http://localhost:8080}
 * @param results the latest result without the lock ("off") and with it ("on")
 * @param workers the workers that are alive
 */
record OverviewPage(String server, Map<String, SalesResult> results, List<WorkerState> workers) {

	private static final String PAGE = """
			<!DOCTYPE html>
			<html lang="en">
			<head>
			<meta charset="UTF-8">
			<meta http-equiv="refresh" content="5">
			<meta name="viewport" content="width=device-width">
			<link rel="icon" href="data:,">
			<title>Don't sell seat 13A twice</title>
			<style>
			body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
			table { border-collapse: collapse; }
			th, td { border: 1px solid #999; padding: 0.3em 0.7em; text-align: left; }
			pre { background: #eee; padding: 0.7em; overflow-x: auto; }
			</style>
			</head>
			<body>
			<h1>Don't sell seat 13A twice</h1>
			<p>Several processes sell the seats of one event, with and without a distributed lock.</p>
			<h2>Latest results</h2>
			<table>
			<tr><th>Lock</th><th>Seats</th><th>Sold</th><th>Oversold</th><th>Late writes refused</th><th>Processes</th></tr>
			%s
			</table>
			<p><a href="/">Reload</a> (the page does so every five seconds).</p>
			<h2>Workers</h2>
			<table>
			<tr><th>Process</th><th>State</th><th>Actuator</th></tr>
			%s
			</table>
			<h2>Commands</h2>
			<p>The latest results, as JSON:</p>
			<pre>%s</pre>
			<p>Sell all seats of a new event, without the lock and with it:</p>
			<pre>%s
			%s</pre>
			<p>The same with customers who think for longer, so that there is time to kill or freeze a worker:</p>
			<pre>%s</pre>
			<p>The process that holds the lock, if there is one, and the states of the workers:</p>
			<pre>%s
			%s</pre>
			<p>Kill a worker, or freeze it for 1 to %d seconds (replace PID by its process id):</p>
			<pre>%s
			%s</pre>
			<p>The locks and the figures of a worker (replace ACTUATOR by its address):</p>
			<pre>curl -s 'ACTUATOR/distributedlocks'
			curl -s 'ACTUATOR/metrics/distributed.lock.acquire'</pre>
			</body>
			</html>
			""";

	String html() {
		return PAGE.formatted(resultRows(), workerRows(), get("/api/status"), post("/api/sales?lock=off"),
				post("/api/sales?lock=on"), post("/api/sales?lock=on&think-time=300ms"), get("/api/holder"),
				get("/api/workers"), WorkerPool.LONGEST_FREEZE.toSeconds(), post("/api/workers/PID/kill"),
				post("/api/workers/PID/freeze?seconds=15"));
	}

	private String resultRows() {
		return this.results.entrySet().stream().map(OverviewPage::resultRow).collect(Collectors.joining("\n"));
	}

	private static String resultRow(Entry<String, SalesResult> entry) {
		SalesResult result = entry.getValue();
		String processes = result.processes().stream().map(String::valueOf).collect(Collectors.joining(", "));
		return row(entry.getKey(), result.capacity(), result.sold(), result.oversold(), result.refused(), processes);
	}

	private String workerRows() {
		return this.workers.stream()
			.map((worker) -> row(worker.pid(), worker.state(), Objects.requireNonNullElse(worker.actuator(), "")))
			.collect(Collectors.joining("\n"));
	}

	private static String row(Object... cells) {
		return List.of(cells)
			.stream()
			.map((cell) -> "<td>" + HtmlUtils.htmlEscape(cell.toString()) + "</td>")
			.collect(Collectors.joining("", "<tr>", "</tr>"));
	}

	private String get(String path) {
		return command("curl -s", path);
	}

	private String post(String path) {
		return command("curl -s -X POST", path);
	}

	private String command(String curl, String path) {
		return HtmlUtils.htmlEscape(curl + " '" + this.server + path + "'");
	}

}
