package io.distributedlock.sample.control;

import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * What has happened lately, in words. Safe for use by many threads.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class EventLog {

	private static final int LENGTH = 80;

	private final Deque<Entry> entries = new ArrayDeque<>();

	private long lastId;

	void add(Tone tone, String text) {
		add(tone, text, false);
	}

	/** Adds what a screen reader should say at once. */
	void announce(Tone tone, String text) {
		add(tone, text, true);
	}

	private synchronized void add(Tone tone, String text, boolean aloud) {
		if (this.entries.size() == LENGTH) {
			this.entries.removeFirst();
		}
		this.lastId++;
		LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS);
		this.entries.addLast(new Entry(this.lastId, now.toString(), tone.name().toLowerCase(Locale.ROOT), text, aloud));
	}

	synchronized List<Entry> latest() {
		return List.copyOf(this.entries);
	}

	/** What an entry means to who reads it. */
	enum Tone {

		PLAIN, GOOD, WARNING, BAD

	}

	/**
	 * An entry.
	 *
	 * @param id its number, rising
	 * @param time when it happened
	 * @param tone what it means: {@code plain}, {@code good}, {@code warning} or
	 * {@code bad}
	 * @param text what happened
	 * @param aloud whether a screen reader should say it at once
	 */
	record Entry(long id, String time, String tone, String text, boolean aloud) {

	}

}
