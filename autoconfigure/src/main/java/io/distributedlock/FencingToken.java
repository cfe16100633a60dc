package io.distributedlock;

/**
 * A number that rises with every hold of a key: from grant to grant, and from hold to
 * hold of a grant that is handed off inside a process. A resource that remembers the
 * highest token it has seen, and refuses lower ones, cannot be written by a holder whose
 * lease has passed to another (Kleppmann, "How to do distributed locking"; the sequencer
 * of Google's Chubby).
 * <p>
 * The value is the store's order of the grant × 1,024 + the number of the hold within the
 * grant. It never changes during a hold, and re-entrant calls have the same one, as have
 * shared holds of a process that joined one another. Pass it on as text where JSON or Lua
 * could round it.
 *
 * @param value the token, positive
 * @since 0.1.0
 */
public record FencingToken(long value) implements Comparable<FencingToken> {

	/** The highest order that a store may assign: 2^53 - 1. */
	public static final long MAX_ORDER = (1L << 53) - 1;

	/** The highest number of a hold within a grant. */
	public static final int MAX_HOLD_NUMBER = 1000;

	static final int HOLDS = 1024;

	public FencingToken {
		if (value <= 0) {
			throw new IllegalArgumentException("A fencing token is positive, not " + value);
		}
	}

	/**
	 * Creates the token of one hold of a grant.
	 * @param order the store's order, from 1 to {@link #MAX_ORDER}
	 * @param holdNumber the number of the hold within the grant, from 0 to
	 * {@link #MAX_HOLD_NUMBER}
	 * @return the token
	 * @throws IllegalArgumentException if either is out of range
	 */
	public static FencingToken of(long order, int holdNumber) {
		if (order <= 0 || order > MAX_ORDER) {
			throw new IllegalArgumentException("An order lies between 1 and 2^53 - 1, not at " + order);
		}
		if (holdNumber < 0 || holdNumber > MAX_HOLD_NUMBER) {
			throw new IllegalArgumentException("A hold number lies between 0 and 1,000, not at " + holdNumber);
		}
		return new FencingToken(order * HOLDS + holdNumber);
	}

	/**
	 * Returns the store's order of the grant that this token belongs to. The holds of a
	 * grant that is handed off share it, so that a resource has to compare tokens.
	 * @return the order
	 */
	public long order() {
		return this.value / HOLDS;
	}

	/**
	 * Returns the token as 19 digits, so that texts sort as the numbers do.
	 * @return the zero-padded decimal digits
	 */
	public String toSortableText() {
		String digits = Long.toString(this.value);
		return "0".repeat(19 - digits.length()) + digits;
	}

	@Override
	public int compareTo(FencingToken other) {
		return Long.compare(this.value, other.value);
	}

	@Override
	public String toString() {
		return Long.toString(this.value);
	}

}
