from explore import explore
# row: (owner None | ('H', p) held | ('R', p) reserved, expired, first entry, valid, second entry, valid)
# Each grant to another process counts for every process that waits (maxPass bounds the count).
def run(label,two=True,N=3,K=99,stale=0,die=0,maxPass=3,limit=1500000,polledOnly=False,displaceSecond=True):
    P=range(N)
    init=((None,True,None,False,None,False),tuple(('idle',K,0,0,0,None) for _ in P),stale,die)
    def tk(row,p): o,e=row[:2]; return e or o is None or o==('R',p)
    def succ(s):
        row,procs,st,d=s; o,e,n,f,m,g=row; out=[]
        def emit(name,row=row,procs=procs,st=st,d=d,flags=()):
            v=sorted({q[5] for q in procs if q[5] is not None}); procs=tuple(q[:5]+((v.index(q[5]) if q[5] is not None else None),) for q in procs)
            o,e,n,f,m,g=row
            if n is None: f=False
            if m is None: g=False
            out.append((name,((o,e,n,f,m,g),procs,st,d),flags))
        def setp(p,v,ps=procs): l=list(ps); l[p]=v; return tuple(l)
        def newsc(p): return procs[p][5] if procs[p][5] is not None else max([q[5] for q in procs if q[5] is not None]+[-1])+1
        def sc(q): return procs[q][5] if procs[q][5] is not None else 99
        def first_open(p): return n is None or not f or n==p or newsc(p)<sc(n)
        def second_open(x,p): return m is None or not g or m==p or x<sc(m)
        for p in P:
            pc,left,sig,pa,po,s0=procs[p]
            why=None
            if pc=='idle' and left: why='first'
            elif pc=='wait':
                if tk(row,p): why='takeable'
                elif n==p: why='refresh'
                elif first_open(p): why='first entry open'
                elif two and (m==p or m is None or not g or displaceSecond and second_open(newsc(p),p)): why='second'
            if why:
                if tk(row,p):
                    l=[(q[0],q[1],0,min(q[3]+(1 if q[0]=='wait' and (q[4] or not polledOnly) else 0),maxPass+1),0,q[5]) for q in procs]
                    l[p]=('hold',left,0,0,0,None)
                    emit(f'{p} ({why}) granted',row=(('H',p),False,None if n==p else n,f,None if m==p else m,g),procs=tuple(l))
                else:
                    if first_open(p):
                        nm,ng=(None if m==p else m),g
                        if two and n not in(None,p) and f and second_open(sc(n),p): nm,ng=n,f
                        r=(o,e,p,True,nm,ng)
                    elif two and second_open(newsc(p),p): r=(o,e,n,f,p,True)
                    else: r=row
                    emit(f'{p} ({why}) busy',row=r,procs=setp(p,('wait',left,0,pa,1,newsc(p))))
            elif pc=='wait' and not po: emit(f'{p} polls',procs=setp(p,(pc,left,0,pa,1,s0)))
            if pc=='hold':
                if o!=('H',p): emit('lost',flags=('HOLDER LOST THE ROW',)); continue
                nl=left if K==99 else left-1; l=setp(p,('idle',nl,0,0,0,None))
                n2,f2=(m,g) if m not in(None,p) and g else (None,False)
                if not two: n2,f2=None,False
                if n not in(None,p) and f: emit(f'{p} releases, reserves for {n}',row=(('R',n),False,n2,f2,None,False),procs=l)
                else: emit(f'{p} releases',row=(None,True,n2,f2,None,False),procs=l)
            if d and pc in('wait','hold'): emit(f'{p} crashes',procs=setp(p,('dead',0,0,0,0,None)),d=d-1)
        if n is not None and f and (st or procs[n][0] in('dead','idle')): emit('first entry expires',row=(o,e,n,False,m,g),st=st-(procs[n][0] not in('dead','idle')))
        if m is not None and g and (st or procs[m][0] in('dead','idle')): emit('second entry expires',row=(o,e,n,f,m,False),st=st-(procs[m][0] not in('dead','idle')))
        if o is not None and o[0]=='R' and not e and (st or procs[o[1]][0]!='wait'): emit(f'reservation for {o[1]} expires',row=(o,True,n,f,m,g),st=st-(procs[o[1]][0]=='wait'))
        if o is not None and o[0]=='H' and procs[o[1]][0]=='dead' and not e: emit('lease of the dead holder expires',row=(o,True,n,f,m,g))
        return out
    def bad(s):
        if sum(q[0]=='hold' for q in s[1])>1: return 'TWO HOLDERS'
        for p in P:
            if s[1][p][3]>maxPass: return f'{p} WAITED FOR MORE THAN {maxPass} GRANTS'
    def goal(s): return all(q[0]=='dead' or q[0]=='idle' and q[1]==0 for q in s[1])
    explore(init,succ,bad,goal if K!=99 else None,limit,label)
run('one entry (must fail)',two=False,maxPass=3)
run('two entries, endless, 3 processes',maxPass=3)
run('two entries, endless, 3 processes, polls displace no second entry',maxPass=3,displaceSecond=False)
run('two entries, finite, 1 stale, 1 death',K=2,stale=1,die=1,maxPass=8)
