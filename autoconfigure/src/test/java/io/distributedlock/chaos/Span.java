package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A part of the time of a run.
 *
 * @param from its begin
 * @param to its end
 */
record Span(long from, long to) {

	long length() {
		return this.to - this.from;
	}

	/** Whether it has some time in common with another one. */
	boolean touches(long otherFrom, long otherTo) {
		return this.from <= otherTo && this.to >= otherFrom;
	}

	/** Returns the times that at least as many of some spans have in common. */
	static List<Span> common(Collection<Span> spans, int number) {
		List<Span> common = new ArrayList<>();
		PriorityQueue<Long> latestEnds = new PriorityQueue<>();
		for (Span span : spans.stream().sorted(Comparator.comparingLong(Span::from)).toList()) {
			latestEnds.add(span.to);
			if (latestEnds.size() > number) {
				latestEnds.remove();
			}
			if (latestEnds.size() == number) {
				common.add(new Span(span.from, Math.max(span.from, latestEnds.element())));
			}
		}
		return common;
	}

	/** Returns what some spans leave of this one, in order. */
	List<Span> without(Collection<Span> taken) {
		List<Span> gaps = new ArrayList<>();
		long free = this.from;
		for (Span span : taken.stream().sorted(Comparator.comparingLong(Span::from)).toList()) {
			if (span.from > free && free < this.to) {
				gaps.add(new Span(free, Math.min(span.from, this.to)));
			}
			free = Math.max(free, span.to);
		}
		if (free < this.to) {
			gaps.add(new Span(free, this.to));
		}
		return gaps;
	}

}
