"""ZooKeeper: shares and permits in a container at the lock node's path, beside exclusive locks.

Run it with "python3 zookeeper_shares.py". In no state of the recipe does a process believe in an exclusive lock beside
anybody, in more shares than its own limit, or in a share that is not there. No request deletes what another process
holds, each grant has a higher order than those that were answered before its attempt began, a share is not granted
before an entry that was in the queue when its attempt began, and no process is stuck.

Each case with a name that begins with "without" leaves out one rule and must show a violation or stuck states; the
other cases must show neither. The script fails otherwise.
"""
import contextlib
import io
import sys
from collections import namedtuple

from explore import explore

# One step of a process is one request that the servers execute. Between any two steps the process may pause, and at
# each its session may end. A reply may be lost, with the effect or without: the process then reads what it has, and
# releases it. The empty container is removed by the servers at any time.
# Left out are events (each waiter polls), the return to a place in the queue (one that was passed over enters at the
# end), and what zookeeper_wait_queue.py shows about exclusive locks alone.
# lock: none, ("node", czxid, owner, version) or ("box", czxid, version, shares (czxid, process) in order)
# queue: entries (number, process); clock: the last czxid; top: the highest order that was answered
State = namedtuple("State", "lock queue number clock top procs kills freezes losses")
# my: the czxid of its node; entry: its number in the queue; seen: entries with a lower number are before it
# read: what the call has read last; floor: the top when the attempt began; graces: (czxid, step, head) of reservations
Proc = namedtuple("Proc", "pc left my entry seen read floor graces")

HELD, CONTENDED, RESERVED = range(3)
ALL = 99
BELIEVES = ("drop", "hold")
# Steps after which the process owns a node, or may own one: it is not left to pause for ever, as its session would end.
FREEZABLE = ("wait", "look", "enqueue", "position")


def run(label, limits, acquires, hasty=(), kills=0, freezes=0, losses=0, counts_again=True, asks_queue=True,
        probes=True, proves=True, own_order=True, deletes_empty=True, reaper=True):
    """limits: for each process the limit of its shares, or 0 for an exclusive lock; hasty ones do not wait."""
    idle = Proc("idle", 0, 0, None, 0, None, 0, frozenset())
    init = State(None, (), 0, 0, 0, tuple(idle._replace(left=n) for n in acquires), kills, freezes, losses)

    def put(s, p, **changes):
        procs = list(s.procs)
        procs[p] = procs[p]._replace(**changes)
        return s._replace(procs=tuple(procs))

    def box(s):
        return s.lock is not None and s.lock[0] == "box"

    def shares(s):
        return s.lock[3] if box(s) else ()

    def version(s):
        return None if s.lock is None else s.lock[2 if box(s) else 3]

    def set_version(s, number):
        place = 2 if box(s) else 3
        return s._replace(lock=s.lock[:place] + (number,) + s.lock[place + 1:])

    def set_shares(s, left):
        return s._replace(lock=s.lock[:3] + (left,))

    def without_share(s, p):
        return set_shares(s, tuple(share for share in shares(s) if share != (s.procs[p].my, p)))

    def without_entry(s, entry):
        return s._replace(queue=tuple(e for e in s.queue if e != entry))

    def created(s, p, number, leaves_entry=True):
        """The lock node or the container with the first share."""
        czxid = s.clock + 1
        lock = ("box", czxid, number, ((czxid, p),)) if limits[p] else ("node", czxid, p, number)
        s = s._replace(lock=lock, clock=czxid)
        return put(without_entry(s, (s.procs[p].entry, p)) if leaves_entry else s, p, my=czxid)

    def granted(s, p):
        """The answer that lets the process believe in its grant."""
        me = s.procs[p]
        order = me.my if own_order or not box(s) else s.lock[1]
        flags = ("an order is not higher than one before",) if order <= me.floor else ()
        s = put(s, p, pc="drop" if limits[p] and has_entry(s, p) else "hold", read=None,
                entry=me.entry if has_entry(s, p) else None)
        return s._replace(top=max(s.top, order)), flags

    def has_entry(s, p):
        return (s.procs[p].entry, p) in s.queue

    def done(s, p, **changes):
        return put(s, p, pc="idle", left=s.procs[p].left - 1, my=0, read=None, seen=0, floor=0, **changes)

    def busy(s, p):
        return done(s, p) if p in hasty else put(s, p, pc="wait" if has_entry(s, p) else "enqueue", my=0, read=None)

    def reserve_last(s, p):
        return s._replace(lock=("node", s.clock + 1, p, RESERVED), clock=s.clock + 1)

    def deletes_held(s):
        return ("what another process holds is deleted",) if s.lock is not None and (
            shares(s) or not box(s) and s.lock[3] != RESERVED) else ()

    def steps_of(s, p, emit, emit_write):
        me, limit = s.procs[p], limits[p]
        pc, alone = me.pc, me.entry is None
        entry = (me.entry, p)
        if pc == "idle" and me.left or pc == "create":
            if pc == "idle":
                s = put(s, p, seen=s.number, floor=s.top)
            if s.lock is None:
                t = created(s, p, HELD)
                emit_write(f"{p} creates", *granted(t, p), lost=t)
            elif limit:
                emit(f"{p} finds the lock busy", put(s, p, pc="ask"))
            elif p in hasty:
                emit(f"{p} finds the lock busy", put(s, p, pc="look"))
            else:
                emit(f"{p} finds the lock busy", put(s, p, pc="enqueue"))
        elif pc == "ask":
            emit(f"{p} reads how many wait", put(s, p, pc="look along", read=len(s.queue) if asks_queue else 0))
        elif pc == "look along":
            joins = me.read == 0 and box(s) and len(shares(s)) < limit
            emit(f"{p} reads the lock", put(s, p, pc="join", read=None) if joins else busy(s, p))
        elif pc == "enqueue":
            t = s._replace(queue=s.queue + ((s.number, p),), number=s.number + 1)
            emit(f"{p} enters the queue", put(t, p, pc="wait", entry=s.number, seen=s.number))
        elif pc == "wait":
            emit(f"{p} reads the queue", put(s, p, pc="look", read=s.queue[0] == entry) if has_entry(s, p) else
                 put(s, p, pc="enqueue", entry=None))
        elif pc == "look":
            head = not alone and me.read
            t = put(s, p, read=None)
            if s.lock is None:
                emit(f"{p} reads that the lock is free", put(t, p, pc="create" if alone else "create from queue"))
            elif not limit and box(s) and not shares(s):
                if deletes_empty:
                    emit(f"{p} reads an empty container", put(t, p, pc="delete empty", read=head))
            elif head and version(s) == RESERVED:
                emit(f"{p} reads its reservation", put(t, p, pc="replace"))
            elif head and limit and box(s) and len(shares(s)) < limit:
                emit(f"{p} reads that there is room", put(t, p, pc="join"))
            elif head and version(s) == HELD:
                emit(f"{p} reads that it is not contended", put(t, p, pc="contend"))
            else:
                emit(f"{p} reads that the lock is busy", busy(t, p))
        elif pc == "delete empty":
            deletes = box(s) and not shares(s) or s.lock is not None and not box(s) and not probes
            t = put(s, p, read=None, pc="create" if alone else "create from queue")
            if deletes:
                emit(f"{p} deletes the empty container", t._replace(lock=None), deletes_held(s))
            else:
                emit(f"{p} deletes no container", busy(s, p))
        elif pc == "contend":
            emit(f"{p} contends", busy(set_version(s, CONTENDED) if version(s) == HELD else s, p))
        elif pc == "create from queue":
            if s.lock is not None or not has_entry(s, p):
                emit(f"{p} creates nothing", busy(s, p) if has_entry(s, p) else put(s, p, pc="enqueue", entry=None))
            else:
                t = created(s, p, CONTENDED)
                emit_write(f"{p} creates from the queue", *granted(t, p), lost=t)
        elif pc == "replace":
            if version(s) != RESERVED or not has_entry(s, p):
                emit(f"{p} replaces nothing", busy(s, p) if has_entry(s, p) else put(s, p, pc="enqueue", entry=None))
            else:
                t = created(s, p, CONTENDED)
                emit_write(f"{p} replaces the reserved lock node", *granted(t, p), lost=t)
        elif pc == "join":
            if not box(s):
                emit(f"{p} joins nothing", busy(s, p))
            elif limit == ALL and not alone and not has_entry(s, p):
                emit(f"{p} joins nothing: no entry", put(s, p, pc="enqueue", entry=None))
            else:
                overtaken = any(number < me.seen for number, q in s.queue)
                flags = ("a process that waits is overtaken",) if overtaken else ()
                t = put(set_shares(s, shares(s) + ((s.clock + 1, p),))._replace(clock=s.clock + 1), p, my=s.clock + 1)
                if limit == ALL:
                    t = without_entry(t, entry)
                if limit == ALL or not counts_again:
                    u, more = granted(t, p)
                    emit_write(f"{p} joins", u, flags + more, lost=t)
                else:
                    emit_write(f"{p} joins", put(t, p, pc="count"), flags, lost=t)
        elif pc == "count":
            if len(shares(s)) > limit:
                emit(f"{p} counts too many shares", put(s, p, pc="compare"))
            else:
                emit(f"{p} counts the shares", *granted(s, p))
        elif pc == "compare":
            if sum(czxid < me.my for czxid, q in shares(s)) < limit:
                emit(f"{p} is one of the first", *granted(s, p))
            else:
                emit(f"{p} is beyond the limit", put(s, p, pc="release", read="back"))
        elif pc == "drop":
            emit(f"{p} deletes its entry", put(without_entry(s, entry), p, pc="hold", entry=None))
        elif pc in ("hold", "release"):
            release(s, p, emit, emit_write)
        elif pc == "count to release":
            emit(f"{p} counts the shares", put(s, p, pc="delete share" if len(shares(s)) > 1 else "reserve last"))
        elif pc == "reserve last":
            if shares(s) == ((me.my, p),):
                t = reserve_last(s, p)
                emit_write(f"{p} reserves as the last", put(t, p, pc="count waiting", my=t.clock), lost=t,
                           releases=True)
            else:
                emit(f"{p} was not the last", put(s, p, pc="delete share"))
        elif pc == "delete share":
            t = without_share(s, p)
            emit_write(f"{p} deletes its share", put(t, p, pc="count others"), lost=t, releases=True)
        elif pc == "count others":
            emit(f"{p} counts the others", put(s, p, pc="reserve empty") if not shares(s) else ended(s, p))
        elif pc == "reserve empty":
            if box(s) and not shares(s) or s.lock is not None and not box(s) and not proves:
                t = reserve_last(s, p)
                emit_write(f"{p} reserves the empty container", put(t, p, pc="count waiting", my=t.clock),
                           deletes_held(s), lost=t, releases=True)
            else:
                emit(f"{p} reserves nothing", ended(s, p))
        elif pc == "count waiting":
            if s.queue:
                emit(f"{p} reads that others wait", ended(s, p, {(me.my, "begin", None)}))
            else:
                emit(f"{p} reads that nobody waits", put(s, p, pc="free"))
        elif pc == "free":
            emit(f"{p} deletes its reservation", ended(s._replace(lock=None) if version(s) == RESERVED else s, p))
        elif pc == "clean up":
            # Its own share, or a lock node of its session that no attempt has claimed.
            mine = [czxid for czxid, q in shares(s) if q == p]
            own = s.lock is not None and not box(s) and s.lock[2] == p
            if own and not limit and version(s) != RESERVED:
                mine = [s.lock[1]]
            if mine:
                emit(f"{p} finds what it has", put(s, p, pc="release", my=mine[0]))
            elif own and version(s) == RESERVED:
                emit(f"{p} finds its reservation", ended(s, p, {(s.lock[1], "begin", None)}))
            else:
                emit(f"{p} finds that it has nothing", ended(s, p))

    def ended(s, p, graces=frozenset()):
        """The end of a release, or of the way back of a share beyond the limit, which keeps its entry."""
        me = s.procs[p]
        s = put(s, p, graces=me.graces | graces)
        if me.read == "back":
            return busy(s, p)
        return done(without_entry(s, (me.entry, p)), p, entry=None)

    def release(s, p, emit, emit_write):
        if not limits[p]:
            if version(s) == HELD:
                t = s._replace(lock=None)
                emit_write(f"{p} releases", ended(t, p), lost=t, releases=True)
            else:
                t = set_version(s, RESERVED)
                emit_write(f"{p} reserves", put(t, p, pc="count waiting"), lost=t, releases=True)
        elif version(s) != HELD:
            emit(f"{p} finds the container contended", put(s, p, pc="count to release"))
        elif len(shares(s)) > 1:
            emit(f"{p} finds others", put(s, p, pc="delete share"))
        else:
            t = s._replace(lock=None)
            emit_write(f"{p} releases the last share", ended(t, p), lost=t, releases=True)

    def graces_of(s, p, emit):
        for grace in s.procs[p].graces:
            czxid, step, head = grace
            others = s.procs[p].graces - {grace}
            first = s.queue[0] if s.queue else None
            if step == "begin":
                emit(f"{p} reads the head", put(s, p, graces=others | {(czxid, "read lock", first)}))
            elif step == "read lock":
                unused = s.lock is not None and s.lock[1] == czxid and version(s) == RESERVED
                emit(f"{p} reads its reservation",
                     put(s, p, graces=others | {(czxid, "pass over", head)} if unused else others))
            elif version(s) == RESERVED and (head is None or head in s.queue):
                emit(f"{p} passes over {head}", put(without_entry(s, head)._replace(lock=None), p, graces=others))
            else:
                emit(f"{p} passes over nobody", put(s, p, graces=others | {(czxid, "begin", None)}))

    def end_session(s, p):
        if box(s):
            s = set_shares(s, tuple(share for share in shares(s) if share[1] != p))
        elif s.lock is not None and s.lock[2] == p:
            s = s._replace(lock=None)
        s = s._replace(queue=tuple(e for e in s.queue if e[1] != p))
        return put(s, p, **idle._replace(pc="dead")._asdict())

    def bad(s):
        believers = [p for p, me in enumerate(s.procs) if me.pc in BELIEVES]
        for p in believers:
            my, limit = s.procs[p].my, limits[p]
            if not limit and (len(believers) > 1 or s.lock is None or box(s) or s.lock[1] != my):
                return "an exclusive holder is not alone"
            if limit and (my, p) not in shares(s):
                return "a holder is without its share"
            if limit and sum(s.procs[q].my <= my for q in believers) > limit:
                return "more shares than the limit"
        return None

    def succ(s):
        out = []
        if bad(s):
            return out

        for p, me in enumerate(s.procs):
            if me.pc in ("dead", "frozen"):
                continue

            def emit(name, t, flags=()):
                out.append((name, t, flags))

            def emit_write(name, t, flags=(), lost=None, releases=False):
                emit(name, t, flags)
                if s.losses:
                    for kind, u in (("with", lost), ("without", s)):
                        u = put(u, p, pc="clean up", read=None, my=me.my if releases else 0)
                        emit(f"{name}; the reply is lost {kind} its effect", u._replace(losses=s.losses - 1))

            steps_of(s, p, emit, emit_write)
            graces_of(s, p, emit)
            if s.kills and (me.pc != "idle" or me.graces):
                emit(f"the session of {p} ends", end_session(s, p)._replace(kills=s.kills - 1))
            if s.freezes and me.pc in FREEZABLE and not me.graces:
                emit(f"{p} pauses for ever", put(s, p, pc="frozen", read=None)._replace(freezes=s.freezes - 1))
        if reaper and box(s) and not shares(s):
            out.append(("the servers remove the empty container", s._replace(lock=None), ()))
        return out

    def goal(s):
        return (s.lock is None or box(s) and not shares(s)) and all(
            me.pc in ("dead", "frozen") or me.pc == "idle" and not me.left and not me.graces for me in s.procs)

    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        explore(init, succ, bad, goal, label=label)
    print(report.getvalue(), end="")
    broken = "VIOLATION" in report.getvalue() or "stuck states 0" not in report.getvalue()
    if broken != label.startswith("without"):
        sys.exit(f"Not expected: {label}")


WRITER = (0, ALL, ALL)
PERMITS = (2, 2, 2)
MIXED = (0, 1, 2)
for kind, limits in (("a writer and two readers", WRITER), ("two permits of three", PERMITS),
                     ("a writer, one permit, and two permits", MIXED)):
    for fault in ("kills", "losses", "freezes"):
        run(f"{kind}, {fault}", limits, (1, 1, 1), **{fault: 1})
run("a writer that does not wait and two readers, kills", WRITER, (1, 2, 1), hasty=(0,), kills=1)
run("without the probe before a container is deleted", (0, 0, ALL), (1, 1, 1), kills=1, probes=False)
run("without the proof that a reservation replaces a container", WRITER, (1, 1, 1), proves=False)
run("without counting the shares again", PERMITS, (1, 1, 1), counts_again=False)
run("without asking whether others wait", WRITER, (1, 1, 1), asks_queue=False)
run("without the czxid of the share as its order", WRITER, (1, 1, 1), own_order=False)
run("without deleting empty containers", WRITER, (1, 1, 1), kills=1, deletes_empty=False, reaper=False)
