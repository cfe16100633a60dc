package io.distributedlock.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The actuator of a worker, as curl and Prometheus see it.
 */
record WorkerActuator(long pid, String address) {

	private static final HttpClient http = HttpClient.newHttpClient();

	private static final JsonMapper json = new JsonMapper();

	static List<WorkerActuator> all(ControlProcess control) throws Exception {
		return control.get("/api/workers")
			.valueStream()
			.map((worker) -> new WorkerActuator(worker.get("pid").asLong(), worker.get("actuator").asString()))
			.toList();
	}

	HttpResponse<String> answer(String path, String... headers) throws IOException, InterruptedException {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(this.address + path))
			.timeout(Duration.ofSeconds(30));
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return http.send(request.build(), BodyHandlers.ofString());
	}

	JsonNode get(String path) throws IOException, InterruptedException {
		return json.readTree(answer(path).body());
	}

	/** The samples that Prometheus would read, one in a line. */
	List<String> scrape() throws IOException, InterruptedException {
		return answer("/prometheus").body().lines().filter((line) -> !line.startsWith("#")).toList();
	}

	/** The sum of a metric's samples that have the label. */
	double sum(String metric, String label) throws IOException, InterruptedException {
		return sum(scrape(), metric, label);
	}

	private static double sum(List<String> samples, String metric, String label) {
		return samples.stream()
			.filter((line) -> line.startsWith(metric + "{") && line.contains(label))
			.map((line) -> line.substring(line.lastIndexOf('}') + 1).trim())
			.flatMap((values) -> Arrays.stream(values.split(" ")).limit(1))
			.mapToDouble(Double::parseDouble)
			.sum();
	}

}
