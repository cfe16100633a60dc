/**
 * Locks in Redis, through Spring Data Redis with Lettuce or Jedis.
 * <p>
 * <b>The recipe.</b> Each step is one Lua script, which the server runs atomically; all
 * times are the server's.
 * <ol>
 * <li><b>Attempt</b> ({@code attempt.lua}, {@code attempt-busy.lua}).
 * {@code SET lock value NX PX lease} acquires a free lock. The value begins with a random
 * owner id. The order of the grant, from which the fencing token is made, is the server's
 * clock in microseconds, or the last order of the bucket + 1 if that is higher. An owner
 * that holds the lock already is granted it again, with a new order and the same expiry.
 * A process for which the lock is reserved, and any process after the reservation has
 * ended, replaces the header of the value and leaves the queue. After a notification the
 * script reads the value before it writes.</li>
 * <li><b>Wait</b> (the same script). A process that may wait first subscribes to its
 * channel. An attempt at a busy lock then adds the process to the wait queue, which is
 * the end of the value ({@code value.lua}), by the time of its first entry. A process
 * that was notified in vain returns with the time of its first entry. The process
 * attempts again when it is notified, when the lease or the reservation ends, and after
 * one second at most. Then it names the header that it has seen: while the lock still has
 * that, no entry has left the queue, and the script reads nothing else.</li>
 * <li><b>Release</b> ({@code release.lua}, {@code release-contended.lua}). The process
 * sends the whole value that its grant made, which it computes from owner and order. If
 * the lock still has that value, or has the owner's id and an empty wait queue, the key
 * is deleted. Otherwise the first process leaves the queue. The lock is reserved for that
 * one for 100 ms, and its name is published on the channel of that process
 * ({@code reserve.lua}). A process that acquired the lock again after its last release to
 * another one enters the queue with the same script ({@code ContendedReleases}): its next
 * attempt, if it comes within the time of a reservation, is busy without a command. It
 * does not if a process in the queue waits for a share.</li>
 * <li><b>Release within a shortest hold</b> ({@code keep.lua}). The value gets a state in
 * which no process acquires the lock, and expires at the end of that hold. The wait queue
 * ends; its first process is notified, and so learns the end.</li>
 * <li><b>Expire a reservation</b> ({@code expire-reservation.lua}). If further processes
 * were in the queue, the process that made the reservation checks it after it should have
 * been used, unless it has acquired the lock itself since. If eight or more were in the
 * queue, it checks later by the time that it waited last, at most a second: the processes
 * that released the lock earlier check it too. If the reservation was not used, the lock
 * is reserved for the next process.</li>
 * <li><b>Renew</b> ({@code renew.lua}). {@code PEXPIRE} for each lock whose value still
 * has the owner's id; a lock that has expired is not renewed.</li>
 * <li><b>Shares</b> ({@code attempt-share.lua}, {@code release-share.lua}). The attempt
 * drops the shares that have ended, and appends its own if fewer than its limit are left
 * and no other process is first in the queue. It notifies the next process in the queue
 * if that waits for shares too, as the release of one of several shares does. The release
 * of the last one is that of an exclusive grant. A process waits for shares by another
 * id, which is odd, and so has an entry and a channel of its own. The header has the end
 * of the turn of the first process in the queue: 100 ms after a notification, 3 seconds
 * after each of its attempts. If it does not come by then, the next attempt for a share
 * removes it from the queue, or the process whose release has notified it. That of a
 * grant does not look again: a process that has died in a row of readers delays those
 * behind it until one of them attempts, a second at most.</li>
 * <li><b>Withdraw</b> ({@code withdraw.lua}). A process without waiters leaves the queue;
 * a lock that is reserved for it is reserved for the next process. A notification for
 * which no contender waits leads to the same step.</li>
 * <li><b>Replay.</b> After a reconnect Lettuce sends commands again that had no reply.
 * Each step is safe when it is run twice: it compares the owner or process id. If a
 * connection broke during a call, a grant counts as unknown, its owner id is not used
 * again, and the outcome of a release is unknown until it is repeated.</li>
 * </ol>
 * <table border="1">
 * <caption>States of a lock: the value of its key</caption>
 * <tr>
 * <th>state</th>
 * <th>value</th>
 * <th>changed by</th>
 * </tr>
 * <tr>
 * <td>free</td>
 * <td>no key</td>
 * <td>attempt of any process: {@code HELD}, or {@code SHARED}</td>
 * </tr>
 * <tr>
 * <td>{@code HELD}</td>
 * <td>owner id (32), {@code H}, microsecond of the creation (16), second of the grant
 * (10), length of the label (3), label of the process; the wait queue</td>
 * <td>attempt of a process that waits: an entry in the queue; release by the owner:
 * {@code RESERVED} for the first process in the queue, or free, or {@code KEPT};
 * withdrawal: the entry leaves the queue; renewal by the owner: a later expiry; expiry:
 * free</td>
 * </tr>
 * <tr>
 * <td>{@code RESERVED}</td>
 * <td>process id (32), {@code R}, microsecond of the creation (16); the wait queue. The
 * key expires one second after the end of the reservation</td>
 * <td>attempt of that process, or of any process after the end: {@code HELD}; attempt of
 * another process that waits: an entry in the queue; withdrawal by that process, or
 * expire-reservation after the end: {@code RESERVED} for the next one; withdrawal with an
 * empty queue, or expiry: free</td>
 * </tr>
 * <tr>
 * <td>{@code SHARED}</td>
 * <td>32 zeros, {@code S}, microsecond of the creation (16), end of the turn of the first
 * process in the queue (16); each share as the header of {@code HELD}, with its end in
 * place of the creation, and its order (16); the wait queue</td>
 * <td>attempt for a share: a further share, or an entry in the queue; attempt of another
 * process that waits: an entry; release or renewal of a share; release of the last one:
 * {@code RESERVED} for the first process in the queue, or free; expiry of the last one:
 * free</td>
 * </tr>
 * <tr>
 * <td>{@code KEPT}</td>
 * <td>32 zeros, {@code K}, then as {@code HELD}, without a wait queue</td>
 * <td>expiry: free</td>
 * </tr>
 * </table>
 * <p>
 * <b>Check.</b> No attempt is sent before the servers were checked ({@code check.lua},
 * {@code server.lua}), at start or else by the first attempt. The first script is run for
 * each master of a cluster, and otherwise the second one for each bucket: a proxy that
 * hides several servers is refused, unless it refuses keys of several slots itself.
 * <p>
 * <b>Twemproxy</b>, if the settings name it, is taken for a cluster whose slots are the
 * buckets. It sends a script to the server of its first key, so no script has keys of two
 * buckets, and the check shows that it keeps those of one together: again before an
 * attempt after connections broke, and before a reply that a lock is not held is
 * believed. It refuses subscriptions: a process waits in the queue without one, and
 * attempts twice in the time of a reservation.
 * <p>
 * <b>Keys</b> of the lock {@code payments:42} with the prefix {@code shop}, all in one
 * slot of a cluster ({@code RedisLayout}): {@code {shop:b23}:lock:payments:42} is its
 * value, {@code {shop:b23}:last-order} has the last order of the bucket,
 * {@code {shop:b00}:format} the number of the layout. The channel of a process is
 * {@code shop:notify:<process id>}.
 * <p>
 * <b>Sources.</b> Attempt, renewal and release follow the pattern "Distributed Locks with
 * Redis" of the Redis manual for a single instance: {@code SET NX PX} with a random
 * value, which is compared before the key is deleted. Fencing tokens are those of Martin
 * Kleppmann, "How to do distributed locking". Redlock is not used.
 */
@NullMarked
package io.distributedlock.redis;

import org.jspecify.annotations.NullMarked;
