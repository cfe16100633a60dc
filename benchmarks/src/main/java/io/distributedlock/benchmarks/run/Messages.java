package io.distributedlock.benchmarks.run;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import io.distributedlock.benchmarks.scenario.Answer;
import io.distributedlock.benchmarks.scenario.Task;

/**
 * Lines that the run and the JVMs of contenders send each other.
 */
final class Messages {

	/** What a line of an answer begins with; other lines are printed by libraries. */
	static final String REPLY = "> ";

	private static final JsonMapper JSON = JsonMapper.builder().build();

	private Messages() {
	}

	static String write(Task task) {
		return JSON.writeValueAsString(task);
	}

	static Task readTask(String line) {
		return JSON.readValue(line, Task.class);
	}

	static String write(Reply reply) {
		return REPLY + JSON.writeValueAsString(reply);
	}

	static Reply readReply(String line) {
		return JSON.readValue(line.substring(REPLY.length()), Reply.class);
	}

	/**
	 * How a task has ended.
	 *
	 * @param answer what was seen, or {@code null} if it failed
	 * @param failure why it failed, or {@code null}
	 */
	record Reply(@Nullable Answer answer, @Nullable String failure) {
	}

}
