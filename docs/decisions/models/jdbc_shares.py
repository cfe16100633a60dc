from explore import explore
# row: None | (owner, rest of its lease, whether its order is that of the last grant, entries)
#   owner: None free | ('H', p) exclusive | ('S',) shares | ('R', p) reserved
#   entries: at most two (process, valid), in the order of the wait queue
# shares: per process the rest of its lease, None without a share; 0 has ended and is not deleted yet
# process: (state, rounds left, since: rank of its first refusal, rest of what it believes to hold, grants to later ones)
#   idle, wait, hold, dead; tx: in the transaction of a share, whose first statement has read and locked the row;
#   lost: the reply to its commit was lost, so that it holds nothing and sends a release
# A tick is time. A transaction takes the time of its first statement for the present, and what a process believes to
# hold ends a tick earlier. Leases differ, so that a later share can end before an earlier one.
BREAKAGES={'end':"the row's end is that of the latest share only",'count':'the count of the shares is skipped',
    'queue':'the wait queue is ignored','order':'a share beside others leaves the order'}
def run(label,limits,K=99,leases=(3,3,2),die=0,lose=0,stale=0,maxPass=2,broken=None,limit=1500000):
    P=range(len(limits)); none=(None,)*len(limits)   # limits: of the shares that a process wants, 0 for an exclusive lock
    init=(None,none,tuple(('idle',K,None,0,0) for _ in P),die,lose,stale,None)
    def put(t,p,v): l=list(t); l[p]=v; return tuple(l)
    def succ(s):
        row,shares,procs,d,ls,st,lock=s; out=[]   # lock: (process, ticks since it read the row)
        def emit(name,row=row,shares=shares,procs=procs,d=d,ls=ls,st=st,lock=lock,flags=()):
            v=sorted({q[2] for q in procs if q[2] is not None})
            procs=tuple(q[:2]+((v.index(q[2]) if q[2] is not None else None),)+q[3:] for q in procs)
            out.append((name,(row,shares,procs,d,ls,st,lock),flags))
        def since(p): return procs[p][2] if procs[p][2] is not None else max([q[2] for q in procs if q[2] is not None]+[-1])+1
        def free(p,now=0): return row is None or row[0] is None or row[1]<=-now or row[0]==('R',p)
        def live(now): return sum(r is not None and r>-now for r in shares)
        def entries(p): return tuple(e for e in row[3] if e[1] and e[0]!=p)
        def isnext(p):   # LockRow.isNext
            return all(since(p)<since(e) for e,_ in entries(p)) or broken=='queue'
        def enqueue(p):   # RowRule: by the order of the first refusals, and two at most
            q=sorted(entries(p)+((p,True),),key=lambda e:since(e[0]))[:2]
            return (row[0],row[1],row[2],tuple(q))
        def granted(p,name,row,shares,rest,lost,flags=()):
            procs2=tuple(q[:4]+(min(q[4]+1,maxPass+1),) if q[0]=='wait' and (since(i)<since(p)) else q for i,q in enumerate(procs))
            n=sum(r is not None and r>0 for r in shares)
            if limits[p] and n>limits[p]: flags+=('MORE SHARES THAN THE LIMIT',)
            if not row[2]: flags+=('ORDER DOES NOT RISE',)
            v=('lost',procs[p][1],None,0,0) if lost else ('hold',procs[p][1],None,rest-1,0)
            emit(f'{p} {name}'+(', reply lost' if lost else ''),row=row,shares=shares,procs=put(procs2,p,v),ls=ls-lost,lock=None,flags=flags)
        def raised(old,raises=True): return raises and (old is None or old[2])
        def released(p):   # of the last share or the exclusive lock: RowRule.release
            q=entries(-1)
            w=[e for e in q if limits[p] or e[0]!=p]
            return (('R',w[0][0]),1,row[2],tuple(w[1:])) if w else (None,0,row[2],())
        for p in P:
            pc,left,sc,rest,ps=procs[p]
            # exclusive attempt: one statement
            if limits[p]==0 and lock is None and (pc=='wait' or pc=='idle' and left):
                if free(p):
                    for lost in range(1+(ls>0)):
                        granted(p,'acquires',(('H',p),leases[p],raised(row),entries(p) if row else ()),shares,leases[p],lost)
                elif pc=='idle' or enqueue(p)!=row:
                    emit(f'{p} is busy',row=enqueue(p),procs=put(procs,p,('wait',left,since(p),0,ps)))
            # attempt of a share: locks the row if there is one
            if limits[p] and (lock is None or row is None) and (pc=='wait' or pc=='idle' and left):
                emit(f'{p} begins',procs=put(procs,p,('tx',left,sc,0,ps)),lock=(p,0) if row else lock)
            if pc=='tx' and (lock is None or lock[0]==p) and (row is None or lock is not None):
                now=lock[1] if lock else 0
                beside=row and row[0]==('S',) and not free(p,now) and isnext(p) and (live(now)<limits[p] or broken=='count')
                if beside:
                    new=put(tuple(None if r is not None and r<=-now else r for r in shares),p,leases[p]-now)
                    end=leases[p]-now if broken=='end' else max(r for r in new if r is not None)
                    for lost in range(1+(ls>0)):
                        granted(p,'joins',(('S',),end,raised(row,broken!='order'),entries(p)),new,leases[p]-now,lost)
                elif free(p):   # by the rule, whose clock is later
                    for lost in range(1+(ls>0)):
                        granted(p,'gets the first share',(('S',),leases[p],raised(row),entries(p) if row else ()),put(none,p,leases[p]),leases[p]-now,lost)
                else: emit(f'{p} enters the queue',row=enqueue(p),procs=put(procs,p,('wait',left,since(p),0,ps)),lock=None)
            if pc=='tx' and lock is None and row is not None:   # another one has created the row
                emit(f'{p} begins again',procs=put(procs,p,('tx',left,sc,0,ps)),lock=(p,0))
            if pc in('hold','lost') and lock is None:
                to=put(procs,p,('idle',left-(K!=99),None,0,0) if pc=='hold' else ('wait',left,since(p),0,0))
                if limits[p]==0: emit(f'{p} releases',row=released(p) if row and row[0]==('H',p) else row,procs=to)
                else:
                    new=put(shares,p,None); r=row
                    if row and row[0]==('S',) and shares[p] is not None:
                        n=[x for x in new if x is not None and x>0]
                        r=(row[0],max(n),row[2],row[3]) if n else released(p)
                    else: new=shares
                    emit(f'{p} releases its share',row=r,shares=new,procs=to)
                if pc=='hold' and rest<leases[p]-1:
                    for lost in range(1+(ls>0)):
                        h=to if lost else None; v=('hold',left,None,rest if lost else leases[p]-1,0)
                        if limits[p]==0 and row and row[0]==('H',p) and row[1]>0:
                            emit(f'{p} renews',row=(row[0],leases[p])+row[2:],procs=put(procs,p,v),ls=ls-lost)
                        if limits[p] and row and row[0]==('S',) and row[1]>0 and (shares[p] or 0)>0:
                            new=put(shares,p,leases[p]); emit(f'{p} renews its share',row=(row[0],max(r or 0 for r in new))+row[2:],shares=new,procs=put(procs,p,v),ls=ls-lost)
            if d and pc!='dead' and pc!='idle':
                emit(f'{p} crashes',procs=put(procs,p,('dead',0,None,0,0)),d=d-1,lock=None if lock and lock[0]==p else lock)
        if row:
            for i,(e,valid) in enumerate(row[3]):
                gone=procs[e][0] not in('wait','tx')
                if valid and lock is None and (gone or st): emit(f'entry of {e} ends',row=row[:3]+(row[3][:i]+((e,False),)+row[3][i+1:],),st=st-(not gone))
            if lock is None and row[1]<=0 and row[0] is not None and all(r is None or r<=0 for r in shares): emit('the row is swept',row=None)
        if any(r is not None and r<=0 for r in shares): emit('ended shares are swept',shares=tuple(None if r is not None and r<=0 else r for r in shares))
        if not (lock and lock[1]==1):   # the server ends a transaction that stops for longer
            owners=[] if row is None or row[1]!=1 else [row[0][1]] if row[0] and len(row[0])>1 else [p for p in P if shares[p]==1]
            late=any(procs[p][0]!='dead' for p in owners)   # a process that lives was paused for too long
            tick=lambda r: r and r-1
            if not late or st: emit('tick',row=row and (row[0],max(row[1]-1,0))+row[2:],shares=tuple(map(tick,shares)),
                procs=tuple(q[:3]+(max(q[3]-1,0),)+q[4:] for q in procs),st=st-late,lock=lock and (lock[0],lock[1]+1))
        else: emit('the server ends the transaction',procs=put(procs,lock[0],('wait',procs[lock[0]][1],since(lock[0]),0,procs[lock[0]][4])),lock=None)
        return out
    def bad(s):
        row,shares,procs=s[:3]
        h=[p for p in P if procs[p][0]=='hold' and procs[p][3]>0]
        if len(h)>1 and any(limits[p]==0 for p in h): return 'EXCLUSIVE BESIDE ANOTHER'
        for p in h:
            if row is None or (row[0]!=('H',p) if limits[p]==0 else row[0]!=('S',) or row[1]<(shares[p] or 9)): return f'HOLDER LOST ITS GRANT'
        for p in P:
            if limits[p]==0 and procs[p][4]>maxPass: return f'WRITER WAITED FOR MORE THAN {maxPass} LATER GRANTS'
    def goal(s): return all(q[0]=='dead' or q[0]=='idle' and q[1]==0 for q in s[2])
    explore(init,succ,bad,goal if K!=99 else None,limit,label+(f' (must fail: {BREAKAGES[broken]})' if broken else ''))
ANY=9
if __name__=='__main__':
    run('writer and two readers, endless',(0,ANY,ANY))
    run('writer, permit of one and reader, endless',(0,1,ANY))
    run('writer and two readers, 1 crash, 1 lost reply, 1 pause',(0,ANY,ANY),K=1,die=1,lose=1,stale=1,maxPass=9)
    run('three processes and two permits, 1 crash, 1 lost reply, 1 pause',(2,2,2),K=1,die=1,lose=1,stale=1)
    for b in BREAKAGES: run('',(1,1,1) if b=='count' else (0,ANY,ANY),K=99 if b=='queue' else 1,broken=b)
