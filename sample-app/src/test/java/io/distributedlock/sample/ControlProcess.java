package io.distributedlock.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sample in a JVM of its own, as a user starts it.
 */
class ControlProcess implements AutoCloseable {

	/** The address of the page. */
	private static final Pattern OPEN = Pattern.compile("Open http://127.0.0.1:(\\d+)");

	/** The result of the last of the opening runs. */
	private static final Pattern STARTED = Pattern.compile("^lock=on:", Pattern.MULTILINE);

	private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	private static final JsonMapper json = new JsonMapper();

	private final HttpClient http = HttpClient.newHttpClient();

	private final Path console;

	private final Process process;

	private final int port;

	private final List<ProcessHandle> workers;

	ControlProcess(Path directory) throws IOException {
		this(directory, Map.of());
	}

	/** With settings as environment variables, which workers inherit. */
	ControlProcess(Path directory, Map<String, String> settings) throws IOException {
		this(directory, settings, System.getProperty("java.class.path"));
	}

	/** With a visitor who opens the page, whose address it gets, at once. */
	ControlProcess(Path directory, Map<String, String> settings, Consumer<String> visitor) throws IOException {
		this(directory, settings, System.getProperty("java.class.path"), visitor);
	}

	/** With a class path, which workers inherit too. */
	ControlProcess(Path directory, Map<String, String> settings, String classPath, String... arguments)
			throws IOException {
		this(directory, settings, classPath, (address) -> {
		}, arguments);
	}

	private ControlProcess(Path directory, Map<String, String> settings, String classPath, Consumer<String> visitor,
			String... arguments) throws IOException {
		this.console = Files.createTempFile(directory, "console", ".log");
		ProcessBuilder builder = new ProcessBuilder(JAVA, "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + directory,
				"-Dspring.aot.enabled=false", "-cp", classPath, SampleApplication.class.getName(), "--server.port=0");
		builder.command().addAll(List.of(arguments));
		builder.environment().putAll(settings);
		this.process = builder.redirectErrorStream(true).redirectOutput(Redirect.to(this.console.toFile())).start();
		try {
			this.port = Integer.parseInt(await(OPEN).group(1));
			visitor.accept(address());
			await(STARTED);
			this.workers = javaChildren();
		}
		catch (RuntimeException | Error ex) {
			close();
			throw ex;
		}
	}

	private List<ProcessHandle> javaChildren() {
		return this.process.children().filter(ControlProcess::isJava).toList();
	}

	private static boolean isJava(ProcessHandle process) {
		return process.info().command().filter((command) -> command.endsWith("java")).isPresent();
	}

	private Matcher await(Pattern pattern) {
		Matcher matcher = pattern.matcher("");
		Awaitility.await()
			.atMost(Duration.ofMinutes(10))
			.failFast("the start has failed", () -> !this.process.isAlive())
			.untilAsserted(() -> {
				assertThat(this.process.isAlive() && matcher.reset(console()).find()).as(console()).isTrue();
			});
		return matcher;
	}

	long pid() {
		return this.process.pid();
	}

	List<ProcessHandle> workers() {
		return this.workers;
	}

	/** The ids of its workers now. */
	List<Long> children() {
		return javaChildren().stream().map(ProcessHandle::pid).toList();
	}

	String console() {
		try {
			return Files.readString(this.console);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	JsonNode get(String path) throws Exception {
		return send(request(path).GET());
	}

	/** The address that a browser opens. */
	String address() {
		return "http://127.0.0.1:" + this.port;
	}

	JsonNode post(String path) throws Exception {
		return send(request(path).POST(BodyPublishers.noBody()));
	}

	/** Whatever is answered to a POST. */
	HttpResponse<String> answerToPost(String path, String... headers) throws Exception {
		HttpRequest.Builder request = request(path).POST(BodyPublishers.noBody());
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return this.http.send(request.build(), BodyHandlers.ofString());
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create(address() + path)).timeout(Duration.ofMinutes(3));
	}

	private JsonNode send(HttpRequest.Builder request) throws Exception {
		return json.readTree(this.http.send(request.build(), BodyHandlers.ofString()).body());
	}

	void stop() {
		this.process.destroy();
	}

	void kill() {
		this.process.destroyForcibly();
	}

	/**
	 * In less time than a connection pool waits by default, so that no worker lingers.
	 */
	void awaitEnd() {
		awaitEnd(Duration.ofSeconds(25));
	}

	void awaitEnd(Duration most) {
		Awaitility.await().atMost(most).untilAsserted(() -> {
			assertThat(this.process.isAlive()).isFalse();
			assertThat(this.workers).noneMatch(ProcessHandle::isAlive);
		});
	}

	/** Ends the control process; its workers end with it. */
	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
