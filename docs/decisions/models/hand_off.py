"""Hand-off inside one process: who holds, who is offered the grant, who is woken.

Each case with a name that begins with "without" leaves out one rule and must show a violation.
"""
from collections import namedtuple

from explore import explore

# Left out are the terms of requests, the number of holds, and renewals.
# grant: none | ours; holder: a request, or None; offered: whether the grant waits for the next holder
# life: new | wait | hold | left | done per request; woken: which have been woken and have not stepped
# passed: how often arrivals have overtaken the head; young: whether the grant may be handed off
State = namedtuple("State", "grant holder offered life queue woken passed young stopping expiry")

MOST_PASSED = 2


def run(label, n=4, passes_on=True, bounds_passes=True, wakes_at_end=True, checks_number=True, async_head=False,
        limit=2_000_000):
    init = State("none", None, False, ("new",) * n, (), frozenset(), 0, False, False, False)

    def put(seq, i, value):
        changed = list(seq)
        changed[i] = value
        return tuple(changed)

    def wake_head(s):
        return s._replace(woken=s.woken | {s.queue[0]}) if s.queue else s

    def hold(s, i):
        head_took = bool(s.queue) and s.queue[0] == i
        return s._replace(holder=i, offered=False, life=put(s.life, i, "hold"),
                          queue=tuple(x for x in s.queue if x != i), woken=s.woken - {i},
                          passed=0 if head_took else s.passed + 1)

    def end_grant(s, wake=True):
        s = s._replace(grant="none", holder=None, offered=False, young=False, expiry=False)
        return wake_head(s) if wake else s

    def offer(s):
        s = s._replace(holder=None, offered=True, expiry=True)
        if async_head:
            return hold(s, s.queue[0])
        return wake_head(s)

    def leave(s, i, life):
        was_head = bool(s.queue) and s.queue[0] == i
        s = s._replace(life=put(s.life, i, life), queue=tuple(x for x in s.queue if x != i), woken=s.woken - {i},
                       passed=0 if was_head else s.passed)
        if was_head and s.offered and not passes_on:
            return s
        if was_head and s.offered:
            return wake_head(s) if s.queue and s.young and not s.stopping else end_grant(s)
        return wake_head(s) if was_head and s.grant == "none" else s

    def succ(s):
        out = []

        def emit(name, t):
            out.append((name, t, ()))

        for i, life in enumerate(s.life):
            if life == "new" and not s.stopping:
                if s.offered and (not bounds_passes or s.passed < MOST_PASSED):
                    emit(f"{i} takes the offer on arrival", hold(s, i))
                else:
                    t = s._replace(life=put(s.life, i, "wait"), queue=s.queue + (i,))
                    emit(f"{i} arrives", wake_head(t) if t.queue[0] == i and s.grant == "none" else t)
            if life == "wait":
                if i in s.woken:
                    if s.stopping:
                        emit(f"{i} is refused", leave(s, i, "left"))
                    elif s.offered and s.queue[0] == i:
                        emit(f"{i} picks up", hold(s, i))
                    elif s.grant == "none" and s.queue[0] == i:
                        emit(f"{i} is granted", hold(s._replace(grant="ours", young=True, passed=0), i))
                    else:
                        emit(f"{i} was woken for nothing", s._replace(woken=s.woken - {i}))
                emit(f"{i} times out, is interrupted or cancelled", leave(s, i, "left"))
            if life == "hold":
                t = s._replace(life=put(s.life, i, "done"))
                if s.holder != i:
                    continue
                if s.queue and s.young and not s.stopping:
                    emit(f"{i} hands off", offer(t))
                else:
                    emit(f"{i} releases", end_grant(t))
                emit(f"{i} loses the lock", end_grant(t, wakes_at_end))
            if life == "done" and not checks_number and s.holder is not None and s.holder != i:
                emit(f"{i} closes its handle again", end_grant(s))
        if s.offered:
            if s.expiry:
                emit("the offer ends", end_grant(s))
            emit("the grant is lost while it is offered", end_grant(s, wakes_at_end))
        if s.grant == "ours" and s.young:
            emit("the grant is not young any more", s._replace(young=False))
        if not s.stopping:
            emit("a stop begins", s._replace(stopping=True, woken=s.woken | set(s.queue)))
        return out

    def bad(s):
        if any(life == "hold" and s.holder != i for i, life in enumerate(s.life)):
            return "two holders, or a hold that another one has ended"
        if s.offered and not s.queue:
            return "an offer to nobody"
        if s.offered and s.queue[0] not in s.woken:
            return "an offer that its head does not know of"
        if s.grant == "none" and s.queue and s.queue[0] not in s.woken:
            return "a free lock, and the head sleeps"
        if s.passed > MOST_PASSED:
            return "the head is passed over without a bound"
        return None

    def goal(s):
        return s.grant == "none" and all(life in ("left", "done") or life == "new" and s.stopping for life in s.life)

    explore(init, succ, bad, goal, limit, label)


run("hand-off")
run("hand-off, heads without a thread", async_head=True)
run("without passing the offer on", passes_on=False)
run("without a bound of passes", n=5, bounds_passes=False)
run("without waking the head at a loss", wakes_at_end=False)
run("without hold numbers", checks_number=False)
