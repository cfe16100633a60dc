"""ZooKeeper: the lock node, the wait queue, hand-over, passing over, and the return to a place.

Run it with "python3 zookeeper_wait_queue.py", and add "large" for two cases with more states. In no state of the recipe
are there two holders or a holder without its lock node, and no request deletes a lock node that another process holds.
From each state each process that lives can still get the lock. The head replaces a reserved lock node only while no
entry has a lower number: an entry that has come back is not overtaken. The cases are too small for one exception: a
queue that is removed and created again after a process has read its czxid, and before it comes back, gets an entry with
a number of the earlier queue. Later entries can then have lower numbers (acquires=(2, 1, 2), hasty=(0,), removals=1,
earlier_entries=3).

Each case with a name that begins with "without" leaves out one rule and must show a violation or stuck states. Each
case with a name that begins with "limit" shows what the recipe does not promise. The other cases must show neither.
"""
import sys
from collections import namedtuple

from explore import explore

# One step of a process is one request that the servers execute, or one event that arrives. Between any two steps the
# process may pause. A read from a server that is late is a read that was made earlier.
# Left out are lost answers, several contenders in one process, leases, closed processes, and unlocks by an operator.
# lock: none, or (czxid, owner, version); queue: none, or (czxid, version, next number, entries (number, process))
# kills, freezes, leaves and removals: how often a session ends, a waiting process pauses for ever, a process leaves the
# queue, and the empty queue is removed
State = namedtuple("State", "lock queue procs grants kills freezes leaves removals")

# left: how often the process still acquires the lock; my: the czxid of its lock node
# contended: whether it created its lock node from the queue
# node: the number of its entry; pos: the number of entries before it, or None; version and queue: what it read of the
# queue then; passed: the number with which it comes back; watch: on the lock, on an entry, or an event that was fired
# event: what the head learnt; look: the version of the lock node that this call has read, or "none"
# last: its reservation that may be unused; graces: (czxid, step, head) of each reservation that it is ending
# hasty: the processes that try to acquire the lock and do not wait
# others: whether it has seen others behind its entry; expects: whether its predecessor was deleted
Proc = namedtuple("Proc", "pc left my contended node pos version queue passed watch event look others expects last "
                          "graces")

HELD, CONTENDED, RESERVED = range(3)
NO_ENTRY = dict(node=None, pos=None, version=0, queue=0, passed=None, watch=None, event=None, look=None,
                expects=False)
WITHOUT_LOCK = ("idle", "enqueue", "again", "position", "look along", "watch", "replace", "create from queue",
                "contend", "look", "look and watch", "create", "wait")


def run(label, acquires=(2, 1, 1), hasty=(), earlier_entries=0, kills=0, freezes=0, leaves=0, removals=0,
        checks_version=True, raises_version=True, checks_queue=True, replaces_reserved_only=True,
        ends_reserved_only=True, passes_over=True, frees_empty=True, polls=True, events=True, reads_head_first=True,
        reports_early_end=False, limit=3_000_000):
    idle = Proc("idle", 0, None, False, None, None, 0, 0, None, None, None, None, False, False, None, frozenset())
    init = State(None, None, tuple(idle._replace(left=count) for count in acquires), 0, kills, freezes, leaves,
                 removals)

    def put(s, p, **changes):
        procs = list(s.procs)
        procs[p] = procs[p]._replace(**changes)
        return s._replace(procs=tuple(procs))

    def fire(s, watched, event):
        if all(q.watch != watched for q in s.procs):
            return s
        return s._replace(procs=tuple(q._replace(watch=event) if q.watch == watched else q for q in s.procs))

    def set_lock(s, lock):
        if s.lock is not None:
            s = fire(s, "lock", "lock changed" if lock is not None and lock[0] == s.lock[0] else "lock deleted")
        return s._replace(lock=lock)

    def has_entry(s, number, p):
        return s.queue is not None and (number, p) in s.queue[3]

    def delete_entry(s, entry):
        czxid, version, following, entries = s.queue
        return fire(s, entry, "entry deleted")._replace(
            queue=(czxid, version, following, tuple(e for e in entries if e != entry)))

    def add_entry(s, p, number=None):
        if s.queue is None:
            czxid = removals - s.removals + 1
            s = s._replace(queue=(czxid, 0, earlier_entries if czxid == 1 else 0, ()))
        czxid, version, following, entries = s.queue
        added = following if number is None else number
        raised = version + (number is not None and raises_version)
        s = s._replace(queue=(czxid, raised, following + 1, tuple(sorted(entries + ((added, p),)))))
        known = 0 if number is None else s.procs[p].queue
        return put(s, p, pc="position", node=added, pos=None, version=0, queue=known, passed=None, watch=None,
                   look=None, expects=False)

    def grant(s, p, version):
        s = set_lock(s, (s.grants + 1, p, version))._replace(grants=s.grants + 1)
        # A reservation that the process is about to end is ended all the same.
        going = frozenset(g for g in s.procs[p].graces if g[1] != "begin")
        others = version == CONTENDED and s.procs[p].others
        return put(s, p, pc="hold", my=s.grants, contended=version == CONTENDED, last=None, graces=going, others=others,
                   **NO_ENTRY)

    def done(s, p, **changes):
        return put(s, p, pc="idle", left=s.procs[p].left - 1, my=None, contended=False, others=False, **changes)

    def passed_over(s, p, **changes):
        return put(s, p, node=None, pos=None, version=0, watch=None, expects=False, passed=s.procs[p].node, **changes)

    def begin_round(s, p):
        me = s.procs[p]
        if me.node is None:
            return put(s, p, pc="create", look=None)
        if me.pos == 0 or me.pos is not None and me.watch is not None:
            return attempt(s, p)
        return put(s, p, pc="position")

    def attempt(s, p):
        me = s.procs[p]
        event = me.event if me.look is None and me.pos == 0 else None
        s = put(s, p, event=None)
        if me.pos == 0 and (event == "lock changed" or me.look == RESERVED):
            return put(s, p, pc="replace", look=None)
        if event == "lock deleted" or me.look == "none":
            return put(s, p, pc="create from queue", look=None)
        if me.pos == 0 and me.watch is None:
            return put(s, p, pc="contend" if me.look == HELD else "look and watch")
        return end_attempt(s, p) if me.look is not None else put(s, p, pc="look")

    def end_attempt(s, p):
        me = s.procs[p]
        may_wait = me.look not in (None, "none") and me.pos is not None and me.watch is not None
        if may_wait and not (me.pos == 0 and me.look == RESERVED):
            return put(s, p, pc="wait", look=None)
        return begin_round(s, p)

    def wait_behind(s, p):
        return put(s, p, pc="wait", look=None) if s.procs[p].look is None else attempt(s, p)

    def version_of(s):
        return "none" if s.lock is None else s.lock[2]

    def lost(s, czxid, head=None):
        """Says whose lock node a request deletes that means the reservation with a czxid."""
        if s.lock[2] != RESERVED:
            return ("a held lock node is deleted",)
        if not reports_early_end or s.lock[0] == czxid:
            return ()
        return ("a head is passed over in a later reservation" if head else "a later reservation is ended early",)

    def steps_of(s, p, emit):
        me = s.procs[p]
        pc = me.pc
        if pc == "idle" and me.left and me.last is not None and p not in hasty:
            arrive(s, p, emit)
        elif pc == "idle" and me.left or pc == "create":
            if s.lock is None:
                emit(f"{p} creates the lock node", grant(s, p, HELD))
            elif p not in hasty:
                emit(f"{p} finds the lock busy", put(s, p, pc="enqueue"))
        elif pc == "enqueue" and me.passed is None:
            arrive(s, p, emit)
        elif pc == "enqueue":
            if s.queue is not None and (s.queue[0] == me.queue or not checks_queue):
                emit(f"{p} finds the queue of its place", put(s, p, pc="again"))
            else:
                emit(f"{p} finds that its place is gone", put(s, p, passed=None))
        elif pc == "again":
            if s.queue is None:
                emit(f"{p} does not come back: no queue", put(s, p, pc="enqueue", passed=None))
            else:
                emit(f"{p} comes back with number {me.passed}", add_entry(s, p, me.passed))
        elif pc == "position":
            entries = s.queue[3] if s.queue is not None else ()
            if (me.node, p) in entries:
                position = entries.index((me.node, p))
                seen = len(entries) > position + 1
                t = put(s, p, pos=position, version=s.queue[1], queue=s.queue[0], others=seen,
                        watch=("next", entries[position - 1]) if position else None)
                # It reads the lock along with the queue, unless it has just reserved it for others.
                emit(f"{p} reads the queue", put(t, p, pc="look along") if me.expects or me.last is None else
                     put(t, p, pc="watch") if position else attempt(t, p))
            else:
                emit(f"{p} reads that it was passed over", begin_round(passed_over(s, p), p))
        elif pc == "look along":
            t = put(s, p, look=version_of(s), expects=False)
            if me.pos == 0 and me.expects:
                t = put(t, p, watch="lock" if s.lock is not None and s.lock[2] != HELD else None)
            emit(f"{p} reads the lock along with the queue", attempt(t, p) if me.pos == 0 else put(t, p, pc="watch"))
        elif pc == "watch":
            before = me.watch[1]
            if has_entry(s, *before):
                emit(f"{p} watches its predecessor", wait_behind(put(s, p, watch=before), p))
            else:
                emit(f"{p} misses its predecessor",
                     begin_round(put(s, p, pos=None, version=0, watch=None, look=None, expects=True), p))
        elif pc == "replace":
            known = put(s, p, pos=None, version=0, watch=None)
            if s.queue is None:
                emit(f"{p} replaces nothing: no queue", begin_round(passed_over(s, p), p))
            elif checks_version and s.queue[1] != me.version:
                emit(f"{p} replaces nothing: an entry has come back", begin_round(known, p))
            elif s.lock is None or replaces_reserved_only and s.lock[2] != RESERVED:
                emit(f"{p} replaces nothing: not reserved", begin_round(known, p))
            elif not has_entry(s, me.node, p):
                emit(f"{p} replaces nothing: no entry", begin_round(passed_over(s, p), p))
            else:
                flags = ("the head is overtaken",) if s.queue[3][0] != (me.node, p) else ()
                if s.lock[2] != RESERVED:
                    flags += ("a held lock node is deleted",)
                emit(f"{p} replaces the reserved lock node", grant(delete_entry(s, (me.node, p)), p, CONTENDED), flags)
        elif pc == "create from queue":
            if s.lock is not None:
                emit(f"{p} creates nothing: busy", begin_round(s, p))
            elif not has_entry(s, me.node, p):
                emit(f"{p} creates nothing: no entry", begin_round(passed_over(s, p), p))
            else:
                emit(f"{p} creates the lock node from the queue", grant(delete_entry(s, (me.node, p)), p, CONTENDED))
        elif pc == "contend":
            t = put(s, p, pc="look and watch")
            if s.lock is not None and s.lock[2] == HELD:
                emit(f"{p} contends", set_lock(t, s.lock[:2] + (CONTENDED,)))
            else:
                emit(f"{p} contends nothing", t)
        elif pc in ("look", "look and watch"):
            t = put(s, p, look=version_of(s))
            if pc == "look and watch":
                t = put(t, p, watch="lock" if s.lock is not None and s.lock[2] != HELD else None)
            emit(f"{p} reads the lock", end_attempt(t, p))
        elif pc == "wait":
            if polls:
                # After a second the process reads again: until the servers execute that, it is as if it waited.
                steps_of(begin_round(s, p), p, emit)
            if s.leaves:
                t = s._replace(leaves=s.leaves - 1)
                t = delete_entry(t, (me.node, p)) if has_entry(s, me.node, p) else t
                emit(f"{p} leaves the queue", put(t, p, pc="leave", **NO_ENTRY))
        elif pc == "leave":
            t = put(s, p, pc="leave reserved") if version_of(s) == RESERVED else done(s, p)
            emit(f"{p} reads the lock after it has left", t)
        elif pc == "leave reserved":
            empty = s.queue is None or not s.queue[3]
            emit(f"{p} reads the queue after it has left",
                 put(s, p, pc="leave empty", my=s.lock[0] if s.lock is not None else None) if empty else done(s, p))
        elif pc == "leave empty":
            if version_of(s) == RESERVED:
                emit(f"{p} deletes the reservation in an empty queue", done(set_lock(s, None), p), lost(s, me.my))
            else:
                emit(f"{p} finds no reservation", done(s, p))
        elif pc == "hold" and not me.contended:
            if s.lock[2] == HELD:
                emit(f"{p} releases", done(set_lock(s, None), p))
            else:
                emit(f"{p} does not delete: contended", put(s, p, pc="reserve"))
        elif pc in ("hold", "reserve"):
            flags = () if s.lock[2] == CONTENDED else ("a release finds another version",)
            t = set_lock(s, s.lock[:2] + (RESERVED,))
            emit(f"{p} reserves", put(t, p, pc="count"), flags)
            if me.others:
                # It has just seen others, which may have left since.
                emit(f"{p} reserves for those that it has seen",
                     done(t, p, last=me.my, graces=me.graces | {(me.my, "begin", None)}), flags)
        elif pc == "count":
            if s.queue is not None and s.queue[3]:
                emit(f"{p} reads that others wait",
                     done(s, p, last=me.my, graces=me.graces | {(me.my, "begin", None)}))
            else:
                emit(f"{p} reads that nobody waits", put(s, p, pc="free") if frees_empty else done(s, p))
        elif pc == "free":
            if version_of(s) == RESERVED:
                emit(f"{p} deletes its reservation", done(set_lock(s, None), p), lost(s, me.my))
            else:
                emit(f"{p} finds its reservation used", done(s, p))
        if events and pc in WITHOUT_LOCK and me.watch in ("lock changed", "lock deleted", "entry deleted"):
            t = put(s, p, watch=None)
            if me.watch != "entry deleted":
                t = put(t, p, event=me.watch) if me.pos == 0 else t
            else:
                t = put(t, p, pos=None, version=0, expects=True)
            emit(f"{p} learns: {me.watch}", begin_round(t, p) if pc == "wait" else t)

    def arrive(s, p, emit):
        t = add_entry(s, p)
        early = t.queue[3][-1] != (t.procs[p].node, p)
        emit(f"{p} enters the queue", t, ("an arrival is placed before a process that waits",) if early else ())

    def graces_of(s, p, emit):
        me = s.procs[p]
        for grace in me.graces:
            czxid, step, head = grace
            others = me.graces - {grace}
            ended = None if me.last == czxid else me.last
            first = s.queue[3][0] if s.queue is not None and s.queue[3] else None
            if reads_head_first and step == "begin":
                emit(f"{p} reads that {first} is the head", put(s, p, graces=others | {(czxid, "read lock", first)}))
            elif step in ("begin", "read lock"):
                if s.lock is not None and s.lock[0] == czxid and s.lock[2] == RESERVED:
                    emit(f"{p} reads its unused reservation {czxid}",
                         put(s, p, graces=others | {(czxid, "pass over" if reads_head_first else "read head", head)}))
                else:
                    emit(f"{p} reads that reservation {czxid} is gone", put(s, p, graces=others, last=ended))
            elif step == "read head":
                emit(f"{p} reads that {first} is the head",
                     put(s, p, graces=others | {(czxid, "pass over", first)}))
            elif (s.lock is not None and (s.lock[2] == RESERVED or not ends_reserved_only)
                  and (head is None or has_entry(s, *head))):
                t = delete_entry(s, head) if head is not None else s
                emit(f"{p} passes over {head}", put(set_lock(t, None), p, graces=others, last=ended),
                     lost(s, czxid, head))
            else:
                again = {(czxid, "begin", None)} if me.last == czxid else set()
                emit(f"{p} passes over nobody", put(s, p, graces=others | again))

    def end_session(s, p):
        t = set_lock(s, None) if s.lock is not None and s.lock[1] == p else s
        if t.queue is not None:
            for entry in t.queue[3]:
                t = delete_entry(t, entry) if entry[1] == p else t
        return put(t, p, **idle._replace(pc="dead")._asdict())

    def bad(s):
        if sum(me.pc == "hold" for me in s.procs) > 1:
            return "two holders"
        if any(me.pc in ("hold", "reserve") and (s.lock is None or s.lock[0] != me.my) for me in s.procs):
            return "a holder without its lock node"
        return None

    def succ(s):
        out = []
        if bad(s):
            return out

        def emit(name, t, flags=()):
            out.append((name, t, flags))

        for p, me in enumerate(s.procs):
            if me.pc in ("dead", "frozen"):
                continue
            steps_of(s, p, emit)
            if passes_over:
                graces_of(s, p, emit)
            busy = me.pc != "idle"
            if s.kills and (busy or me.left or me.graces):
                emit(f"the session of {p} ends", end_session(s, p)._replace(kills=s.kills - 1))
            if s.freezes and busy and me.pc in WITHOUT_LOCK and not me.graces:
                emit(f"{p} pauses for ever", put(s, p, **idle._replace(pc="frozen")._asdict())._replace(
                    freezes=s.freezes - 1))
        if s.removals and s.queue is not None and not s.queue[3]:
            emit("the empty queue is removed", s._replace(queue=None, removals=s.removals - 1))
        return out

    def goal(s):
        return s.lock is None and all(me.pc in ("dead", "frozen") or me.pc == "idle" and not me.left and not me.graces
                                      for me in s.procs)

    explore(init, succ, bad, goal, limit, label)


HASTY = dict(acquires=(2, 1, 1), hasty=(0,))
WAITING = dict(acquires=(1, 1, 1))
FAULTS = dict(kills=1, freezes=1, leaves=1, removals=1)

run("recipe, three processes, faults", **WAITING, **FAULTS)
run("recipe, two wait and one does not, faults", **HASTY, **FAULTS)
run("recipe, no event arrives", **WAITING, kills=1, freezes=1, events=False)
if "large" in sys.argv:
    run("recipe, three processes, one comes again", acquires=(2, 1, 1))
    run("recipe, three wait and one does not", acquires=(1, 1, 1, 1), hasty=(0,))
run("without the check of the queue's version", **HASTY, checks_version=False)
run("without raising the queue's version", **HASTY, raises_version=False)
run("without the expected version at the head's delete", **WAITING, kills=1, replaces_reserved_only=False)
run("without the expected version at passing over", **WAITING, leaves=1, ends_reserved_only=False)
run("without passing over", **WAITING, freezes=1, passes_over=False)
run("without freeing a lock for which nobody waits", **WAITING, frees_empty=False)
run("without reading again each second", **WAITING, kills=1, freezes=1, polls=False)
run("without the czxid of the queue", acquires=(1, 1, 2), hasty=(0,), removals=1, earlier_entries=3, checks_queue=False)
run("limit: the reservation of another process ends", **WAITING, reports_early_end=True)
run("without reading the head before the lock", **WAITING, reports_early_end=True, reads_head_first=False)
