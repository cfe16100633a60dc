package io.distributedlock.interceptor.expression;

/**
 * Problem that makes the text of a value unfit for a key, because it differs from process
 * to process: by identity, by the time zone of the process, or by the order of a hash
 * table.
 *
 * @param fact the fact, as a clause about the value
 * @param remedy the value to use instead
 */
record KeyProblem(String fact, String remedy) {

}
