"""Explores shares of a lock in Redis, as the scripts of attempts, releases, withdrawals and checks treat them.

Each process is a writer (limit 0) or wants shares up to its limit. Commands run late, twice or never, and their replies
are lost; processes die, pause (any step may wait) and withdraw. A poll may come at any time, so a message that is late or
lost is no step of its own. A live holder renews; one that pauses beyond its lease is told the loss before its grant ends.
Nothing may break the rule (see bad and flags) and each process must get its turns, except where a recipe that is broken
on purpose has to fail. usage: python3 redis_shares.py [case]
"""
import sys
from explore import explore

MANY = 9


def run(label, limits, K=2, late=0, lose=0, die=0, quit=0, broken='', limit=150000):
    P = range(len(limits))
    # value: None, ('H', owner, queue), ('R', process, over, queue) or ('S', shares, over, queue)
    # share: (owner, ended, order); queue: (score, process), ...; proc: (pc, left, score or None); owner: (process, left)
    init = (None, tuple(('idle', K, None) for _ in P), frozenset(), 0, (late, lose, die, quit))

    def without(queue, p):
        return tuple(e for e in queue if e[1] != p)

    def reserve(queue):
        return ('R', queue[0][1], False, queue[1:]) if queue else None

    def next_turn(shares, over, queue, changed):
        return ('S', shares, over and not (changed or queue and limits[queue[0][1]]), queue)

    def live(shares):
        return tuple(s for s in shares if broken == 'ended shares count' or not s[1])

    def allowed(val, p, score):
        """What the rule says of a share, without a look at how the script decides it."""
        if val is None or val[0] != 'S':
            return val is None or val[0] == 'R' and (val[1] == p or val[2])
        first = min([e[0] for e in val[3] if e[1] == p] + [MANY if score is None else score])
        before = [e for e in val[3] if e[1] != p and e[0] < first]
        if val[2] and before and before[0] == val[3][0]:
            before = before[1:]
        return not before and sum(not s[1] for s in val[1]) < limits[p]

    def serve(state, req):
        """Runs one command: (what it does, value, last order, answer, violations)."""
        val, procs, flight, top, budget = state
        kind, p = req[:2]
        queue = val[-1] if val else ()
        state = val[0] if val else ''
        if kind == 'A':
            owner, score, limit, order = req[1:3], req[3], limits[p], top + (broken != 'order of the clock alone')
            free = val is None or limit and broken == 'a writer is ignored'
            free = free or state == 'R' and (val[1] == p or val[2])
            shares = ()
            if state == 'H' and val[1] == owner:
                return 'again', val, order, ('granted', order), ()
            if state == 'S' and limit:
                shares = live(val[1])
                again = [s for s in shares if s[0] == owner]
                if again:
                    return 'again', val, top, ('granted', again[0][2]), ()
                passed = queue and queue[0][1] != p and val[2]
                queue = queue[1:] if passed else queue
                free = len(shares) < limit and (not queue or queue[0][1] == p or broken == 'the queue is ignored'
                                                or score is not None and score < queue[0][0])
                if passed and not free:
                    val = next_turn(shares, val[2], queue, True)
            flags = []
            if limit and state != 'H' and bool(free) != allowed(req[4], p, score):
                flags.append('A SHARE %s AGAINST THE RULE' % ('GRANTED' if free else 'REFUSED'))
            if free:
                if order <= top:
                    flags.append('AN ORDER DOES NOT RISE')
                held = {i for i in P if procs[i][0] == 'holds' and i != p}
                held |= {s[0] for s in shares if not s[1] and procs[s[0][0]][0] != 'holds'}
                if len(held) >= (limit or 1):
                    flags.append('TOO MANY HOLDERS')
                queue = without(queue, p)
                val = ('S', shares + ((owner, False, order),), False, queue) if limit else ('H', owner, queue)
                return 'granted', val, order, ('granted', order), flags
            here = [e[0] for e in val[-1] if e[1] == p]
            if not here:
                known = [0] + [e[0] for e in queue] + [q[2] or 0 for q in procs] + [r[3] or 0 for r in flight if r[0] == 'A']
                here = [max(known) + 1 if score is None else score]
                val = val[:-1] + (tuple(sorted(val[-1] + ((here[0], p),))),)
            if state == 'S' and val[3][0][1] == p:
                val = ('S', val[1], False, val[3])
            return 'busy', val, top, ('busy', here[0]), flags
        if kind == 'L':
            if state == 'H' and val[1] == req[1:3]:
                return 'released', reserve(without(queue, p)), top, None, ()
            if state == 'S' and any(s[0] == req[1:3] and not s[1] for s in val[1]):
                rest = tuple(s for s in live(val[1]) if s[0] != req[1:3] and broken != 'a release ends all shares')
                return 'released', next_turn(rest, val[2], queue, False) if rest else reserve(queue), top, None, ()
        if kind == 'W':
            rest = without(queue, p)
            if state == 'R' and val[1] == p:
                return 'hands on', reserve(rest), top, None, ()
            if state == 'S' and queue and queue[0][1] == p:
                return 'leaves', next_turn(live(val[1]), val[2], rest, True), top, None, ()
            if rest != queue:
                return 'leaves', val[:-1] + (rest,), top, None, ()
        return 'nothing', val, top, None, ()

    def norm(state):
        val, procs, flight, top, budget = state
        scores = {e[0] for e in (val[-1] if val else ())} | {q[2] for q in procs} | {r[3] for r in flight if r[0] == 'A'}
        rank = {s: i for i, s in enumerate(sorted(scores - {None}), 1)}
        rank[None] = None
        val = val and val[:-1] + (tuple((rank[s], p) for s, p in val[-1]),)
        return (val, tuple(q[:2] + (rank[q[2]],) for q in procs),
                frozenset(r[:3] + (rank[r[3]],) if r[0] == 'A' else r for r in flight), top, budget)

    def succ(state):
        val, procs, flight, top, budget = state
        out = []

        def emit(name, val=val, procs=procs, flight=flight, top=top, budget=budget, flags=()):
            out.append((name, norm((val, procs, flight, top, budget)), flags))

        def setp(p, *new):
            return procs[:p] + (new,) + procs[p + 1:]

        def spend(i):
            return budget[:i] + (budget[i] - 1,) + budget[i + 1:]

        def believed(owner):
            return procs[owner[0]][:2] == ('holds', owner[1])
        for p in P:
            pc, left, score = procs[p]
            if pc == 'dead':
                continue
            free = setp(p, 'idle', left, None)
            if pc in ('idle', 'wait') and left:
                owner = (p, left - 1)
                done, new, order, answer, flags = serve(state, ('A', *owner, score, val))
                got = setp(p, 'holds', left - 1, None) if answer[0] == 'granted' else setp(p, 'wait', left, answer[1])
                emit('%d attempts: %s' % (p, done), new, got, top=order, flags=flags)
                if budget[1]:
                    late, unclear = ('A', *owner, score), setp(p, 'wait' if left > 1 else 'idle', left - 1, score)
                    release = ('L', *owner)
                    emit('%d attempts: %s, twice' % (p, done), new, got, flight | {late}, order, spend(1), flags)
                    emit('%d attempts: %s, reply lost' % (p, done), new, unclear, flight | {release}, order, spend(1), flags)
                    emit('%d attempts, but that runs later' % p, val, unclear, flight | {late, release}, top, spend(1))
            if pc == 'wait' and budget[3]:
                emit('%d withdraws' % p, serve(state, ('W', p))[1], free, budget=spend(3))
                if budget[1]:
                    emit('%d withdraws, but that runs later' % p, val, free, flight | {('W', p)}, budget=spend(1)[:3] + spend(3)[3:])
            if pc == 'idle' and val and (val[:2] == ('R', p) or val[-1] != without(val[-1], p)):
                emit('%d hears what nobody waits for' % p, serve(state, ('W', p))[1])
            if pc == 'holds':
                release = ('L', p, left)
                new = serve(state, release)[1]
                emit('%d releases' % p, new, free)
                if budget[1]:
                    emit('%d releases, twice' % p, new, free, flight | {release}, budget=spend(1))
                    emit('%d releases, but that runs later' % p, val, free, flight | {release}, budget=spend(1))
                if budget[0]:
                    emit('%d pauses beyond its lease' % p, procs=free, budget=spend(0))
            if budget[2]:
                emit('%d dies' % p, procs=setp(p, 'dead', 0, None), budget=spend(2))
        for req in flight:
            done, new, order, _, flags = serve(state, req + (val,))
            emit('late %s: %s' % (req, done), new, flight=flight - {req}, top=order, flags=flags)
        if val and val[0] != 'H':
            first = val[1] if val[0] == 'R' else val[3][0][1] if val[3] else None
            if not val[2] and first is not None:
                gone = procs[first][0] != 'wait'
                if gone or budget[0]:
                    emit('turn of %d is over' % first, val[:2] + (True,) + val[3:], budget=budget if gone else spend(0))
            if val[2] and len(val[3]) > (val[0] == 'S'):
                emit('its end is checked', reserve(val[3]) if val[0] == 'R'
                     else next_turn(live(val[1]), val[2], val[3][1:], True))
            if val[0] == 'R' and val[2] or val[0] == 'S' and all(s[1] for s in val[1]):
                emit('the key expires', None)
        if val and val[0] == 'H' and not believed(val[1]):
            emit('lease of %s ends' % (val[1],), None)
        for s in val[1] if val and val[0] == 'S' else ():
            if not s[1] and not believed(s[0]):
                ended = tuple((s[0], True, s[2]) if o == s else o for o in val[1])
                emit('share of %s ends' % (s[0],), ('S', ended) + val[2:])
        return out

    def bad(state):
        val, procs = state[:2]
        holders = [(p, procs[p][1]) for p in P if procs[p][0] == 'holds']
        granted = {s[0] for s in val[1] if not s[1]} if val and val[0] == 'S' else {val[1]} if val else set()
        if len(holders) > 1 and any(not limits[p] for p, _ in holders):
            return 'A WRITER BESIDE OTHERS'
        return None if granted.issuperset(holders) else 'A HOLDER WITHOUT ITS GRANT'

    def goal(state):
        return all(q[0] == 'dead' or q[0] == 'idle' and not q[1] for q in state[1])

    violations, stuck = explore(init, succ, bad, goal, limit, label)
    if bool(violations or stuck) != bool(broken):
        sys.exit(label + ': unexpected')


READERS, PERMITS = (0, MANY, MANY), (2, 2, 2)
CASES = {
    'readers-lost': lambda: run('a writer and two readers, a lost or late message and a death', READERS, lose=1, die=1),
    'readers-late': lambda: run('a writer and two readers, a pause, a death, a withdrawal', READERS, late=1, die=1, quit=1),
    'readers-withdraw': lambda: run('a writer and two readers, a lost or late withdrawal', READERS, lose=1, quit=1),
    'permits-lost': lambda: run('two permits of three, a lost or late message', PERMITS, lose=1),
    'permits-death': lambda: run('two permits of three, a death and a pause', PERMITS, late=1, die=1),
    'limits': lambda: run('a writer and two limits, a death', (0, 1, 2), die=1),
}
for name, limits, more in (('a release ends all shares', READERS, {}), ('ended shares count', PERMITS, dict(die=1)),
                           ('the queue is ignored', READERS, {}), ('a writer is ignored', READERS, {}),
                           ('order of the clock alone', READERS, {})):
    CASES['wrong: ' + name] = lambda name=name, limits=limits, more=more: run(
        name + ': has to fail', limits, broken=name, limit=5000, **more)
if __name__ == '__main__':
    for case in sys.argv[1:] or CASES:
        CASES[case]()
