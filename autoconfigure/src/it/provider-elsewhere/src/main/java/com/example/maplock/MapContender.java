package com.example.maplock;

/**
 * Contender of a process for one key.
 *
 * @param process identity of the process
 * @param changed signal to run when the key is reserved for the contender
 */
record MapContender(Object process, Runnable changed) {
}
