/**
 * Lock provider for a ZooKeeper ensemble, over curator-framework.
 *
 * <h2>Layout</h2>
 * <table class="striped">
 * <caption>Nodes below the root</caption> <thead>
 * <tr>
 * <th scope="col">node</th>
 * <th scope="col">kind</th>
 * <th scope="col">content</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>the root itself</td>
 * <td>persistent</td>
 * <td>the number of the layout's format</td>
 * </tr>
 * <tr>
 * <td>{@code locks/00} to {@code locks/ff}, {@code queues/00} to {@code queues/ff}</td>
 * <td>persistent</td>
 * <td>parents of the lock nodes and of the wait queues</td>
 * </tr>
 * <tr>
 * <td>{@code locks/7f/prefix:key}</td>
 * <td>ephemeral</td>
 * <td>the <em>lock node</em>: it exists while the lock is held or reserved</td>
 * </tr>
 * <tr>
 * <td>{@code locks/7f/prefix:key}</td>
 * <td>container</td>
 * <td>takes the place of the lock node while shares of the lock are held</td>
 * </tr>
 * <tr>
 * <td>{@code locks/7f/prefix:key/owner}</td>
 * <td>ephemeral</td>
 * <td>one share, named by the owner id of its grant</td>
 * </tr>
 * <tr>
 * <td>{@code queues/7f/prefix:key}</td>
 * <td>container</td>
 * <td>the <em>wait queue</em> of a lock; ZooKeeper removes it after its last entry</td>
 * </tr>
 * <tr>
 * <td>{@code queues/7f/prefix:key/session-sequence}</td>
 * <td>ephemeral, sequential</td>
 * <td>the <em>queue entry</em> of one waiting process; in one for shares a number that
 * the limit gives takes the place of the session</td>
 * </tr>
 * <tr>
 * <td>{@code processes}, {@code unlocks}</td>
 * <td>persistent</td>
 * <td>parents of the process nodes and of the requests to release a lock</td>
 * </tr>
 * <tr>
 * <td>{@code processes/session}</td>
 * <td>ephemeral</td>
 * <td>the <em>process node</em>: its data is the label of the process, its heartbeat
 * writes to it</td>
 * </tr>
 * <tr>
 * <td>{@code unlocks/prefix:key}</td>
 * <td>any</td>
 * <td>the request of an operator that the holder releases the lock of that name</td>
 * </tr>
 * </tbody>
 * </table>
 * <p>
 * The {@code czxid} of a lock node is the order of the grant: ZooKeeper gives each change
 * of the tree a higher transaction id than the one before. A process identifies its lock
 * node by session and {@code czxid}; data decides nothing.
 *
 * <h2>States of a lock</h2>
 * <table class="striped">
 * <caption>States and the requests that change them</caption> <thead>
 * <tr>
 * <th scope="col">state</th>
 * <th scope="col">version of the lock node</th>
 * <th scope="col">requests</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>free</td>
 * <td>no lock node</td>
 * <td>any process: {@code create} (held). A process with a queue entry:
 * {@code multi(create, setData expecting 0,
 * delete of its entry)} (contended)</td>
 * </tr>
 * <tr>
 * <td>{@code HELD}</td>
 * <td>0</td>
 * <td>the holder: {@code delete} expecting 0 (free). The head of the queue:
 * {@code setData} expecting 0 (contended)</td>
 * </tr>
 * <tr>
 * <td>{@code CONTENDED}</td>
 * <td>1</td>
 * <td>the holder: {@code setData} expecting 1 (reserved)</td>
 * </tr>
 * <tr>
 * <td>{@code RESERVED}</td>
 * <td>2</td>
 * <td>the head of the queue:
 * {@code multi(check of the queue's version, delete expecting 2, create, setData expecting 0,
 * delete of its entry)} (contended). The former holder: {@code delete} expecting 2, after
 * the grace period together with the head's entry (free). A process that leaves an empty
 * queue: {@code delete} expecting 2 (free)</td>
 * </tr>
 * </tbody>
 * </table>
 * <p>
 * In each state the end of the lock node's session makes the lock free.
 *
 * <h2>Recipe</h2>
 * <ol>
 * <li><strong>Acquire.</strong> {@code create} the lock node. The answer has the
 * {@code czxid}. {@code NODEEXISTS} means that the lock is busy; {@code NONODE}, that the
 * parent has to be created first.</li>
 * <li><strong>Wait.</strong> After {@code NODEEXISTS} create a sequential queue entry,
 * one per process and lock, and read the queue and the lock node; a process that has just
 * reserved the lock for others reads only the queue. The head watches the lock node; each
 * other entry watches its predecessor, and reads the queue and the lock node again when
 * that is deleted, for most likely it is the head. The head contends a lock node that is
 * held. Each waiter reads the lock node after 100 ms, if it has not before, and then once
 * a second, and creates it if it is missing, so that a lost event or a paused head costs
 * time but never a hang. Nothing is written while the lock node does not change.</li>
 * <li><strong>Release.</strong> {@code delete} the lock node, expecting version 0.
 * {@code BADVERSION} means that the lock is contended. A lock node that was created from
 * the queue is contended from the start, and goes to the next step at once.</li>
 * <li><strong>Hand-over.</strong> The releasing process deletes its own queue entry, if
 * it has one, reserves the lock with {@code setData} expecting 1, and reads the number of
 * entries, unless it has read of others within 100 ms before. The head replaces the
 * reserved lock node by its own in one transaction, so that no other process can acquire
 * the lock in between: two writes in all, however many processes wait. After 100 ms the
 * releasing process reads the lock node, unless it has acquired the lock again meanwhile;
 * it deletes an unused reservation and the head's entry in one transaction, or the
 * reservation alone at once where the queue is empty.</li>
 * <li><strong>Return.</strong> A process whose entry was deleted that way creates it
 * again with its earlier sequence number, which is its earlier position, and raises the
 * version of the queue with {@code setData} in the same transaction. The {@code check} of
 * that version refuses the process that has become the head meanwhile, which reads the
 * queue again. If the queue was removed in between, by its {@code czxid}, or the process
 * was passed over before it had read its position, the entry goes to the end.</li>
 * <li><strong>Share.</strong>
 * {@code multi(create of the container, create of the share)}, from a queue entry
 * contended as a lock node. Where shares are held and no process waits, or from the head
 * of the queue, {@code create} of the share alone; if there are more than the limit then,
 * the czxids of all decide which stay. The head watches the children too. Release:
 * {@code multi(delete of the share, delete of the container
 * expecting 0)}. {@code NOTEMPTY}: {@code delete} of the share. {@code BADVERSION}, and
 * the last one: {@code multi(delete of the share, delete of the container, create of a
 * lock node, setData twice)}, which is reserved then. An empty container is used by a
 * share, and deleted before an exclusive lock by {@code multi(create and delete of a
 * child, delete)}: a version does not tell it from a lock node, the child does.</li>
 * <li><strong>Unlock.</strong> Each process watches the children of {@code unlocks}. The
 * holder of a lock node that is older than a request of its name, by {@code czxid},
 * reports the loss, releases the lock and deletes the request.</li>
 * <li><strong>Clean-up.</strong> An unanswered command is never repeated blindly: the
 * next lock node of the same name starts at version 0 again. After the client has
 * reconnected, one {@code sync} and a read for each such command decide: behind the
 * {@code sync} no earlier request of the session takes effect. A lock node of the
 * undecided command is released, by one command only. Until then the process sends no
 * other command for the same key. A release that the servers refuse is tried again until
 * it succeeds; meanwhile its callers are told at once. A session that has ended has no
 * nodes.</li>
 * <li><strong>Deadline.</strong> The process writes to its process node at 0.3 of the
 * session's time-out. An answered write moves the deadline of the session to one time-out
 * after the write before it was sent, minus a margin for the drift between clocks, if it
 * was sent a quarter of the time-out after the answer to that write. A write that was
 * lost with its connection counts once a later one is answered. No lock is acquired in a
 * session that is not proven to last until the next proof. The time-out is the smallest
 * that was granted to the session. Reads do not move the deadline. A grant ends at the
 * earliest of this deadline, its lease, and the end of its session, which a watch on the
 * root notices where the client itself ends it. A lease that is not renewed is released
 * by its process; a renewal reads whether the lock node still exists.</li>
 * <li><strong>Close.</strong> The process deletes its reservations and queue entries, and
 * again every half second until that is answered, because its session may last. A lock
 * that is held is released by its holder, or ends with its lease or with the session. At
 * last the process deletes its process node.</li>
 * </ol>
 *
 * <h2>Calls</h2>
 * <p>
 * The thread that runs the body may wait for the answer to the {@code create} of a free
 * lock and to its {@code delete}, which reaches a blocked thread sooner. No thread waits
 * for any other answer: each step of a call continues the answer to the one before, on
 * the client's event thread. A caller that does not wait any longer abandons its call.
 * The call then sends nothing more, and its unanswered command is cleaned up as above.
 * The calls of one process that use the same queue entry take turns.
 *
 * <h2>Sources</h2>
 * <p>
 * The wait queue is that of the lock in ZooKeeper's
 * <a href="https://zookeeper.apache.org/doc/current/recipes.html">recipes</a>, in which
 * each client watches only its predecessor. In that recipe, and in Curator's
 * {@code InterProcessMutex}, the first entry of the queue is the lock; here the lock is a
 * node beside the queue, so that a lock without waiters needs one request to acquire and
 * one to release. The use of the {@code czxid} as a fencing token corresponds to the
 * sequencer of Google's Chubby lock service.
 */
@NullMarked
package io.distributedlock.zookeeper;

import org.jspecify.annotations.NullMarked;
