package io.distributedlock.interceptor.verify;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The operand stack and the variables of a method's code at one instruction, reduced to
 * whether each slot certainly has the object whose method it is.
 */
final class TrackedStack {

	private final List<Boolean> slots;

	private final BitSet variables;

	private TrackedStack(List<Boolean> slots, BitSet variables) {
		this.slots = slots;
		this.variables = variables;
	}

	/** Creates an empty stack, with the object in variable 0 of an instance method. */
	static TrackedStack empty(boolean instance) {
		TrackedStack empty = new TrackedStack(new ArrayList<>(), new BitSet());
		empty.variables.set(0, instance);
		return empty;
	}

	TrackedStack copy() {
		return new TrackedStack(new ArrayList<>(this.slots), (BitSet) this.variables.clone());
	}

	/** Returns what is certain on both of two ways to the same instruction. */
	TrackedStack merge(TrackedStack other) {
		TrackedStack merged = copy();
		merged.variables.and(other.variables);
		merged.requireDepth(other.slots.size());
		for (int i = 0; i < merged.slots.size(); i++) {
			merged.slots.set(i, merged.slots.get(i) && other.slots.get(i));
		}
		return merged;
	}

	/** Forgets the stack if it has not the depth that the class file states. */
	void requireDepth(int depth) {
		if (this.slots.size() != depth) {
			this.slots.clear();
			push(depth);
		}
	}

	/** Pushes slots that have something else. */
	void push(int count) {
		for (int i = 0; i < count; i++) {
			this.slots.add(false);
		}
	}

	void pushObject(boolean own) {
		this.slots.add(own);
	}

	void pop(int count) {
		for (int i = 0; i < count; i++) {
			popObject();
		}
	}

	boolean popObject() {
		return !this.slots.isEmpty() && this.slots.remove(this.slots.size() - 1);
	}

	/** Returns whether the slot at a depth, 1 for the topmost one, has the object. */
	boolean isOwn(int depth) {
		return depth > 0 && depth <= this.slots.size() && this.slots.get(this.slots.size() - depth);
	}

	/**
	 * Duplicates the topmost slots.
	 * @param count the number of slots
	 * @param below how many further slots the copy is put under
	 */
	void duplicate(int count, int below) {
		if (this.slots.size() >= count + below) {
			int from = this.slots.size() - count;
			this.slots.addAll(from - below, List.copyOf(this.slots.subList(from, this.slots.size())));
		}
	}

	void swap() {
		boolean first = popObject();
		boolean second = popObject();
		pushObject(first);
		pushObject(second);
	}

	boolean isOwnVariable(int index) {
		return this.variables.get(index);
	}

	void setVariable(int index, boolean own) {
		this.variables.set(index, own);
	}

}
