package pool

// A cache's stacks share its room: each is deepened when it overflows, and gives up
// its depth when its class is not used any more. Small classes have room for a batch
// from the beginning. A class that is only put here, and got elsewhere, has room for a
// batch and no more: what lies here is what the others have to make.

// mayDeepen reports whether there is anything for deepen to do. It is inlined.
func (l *Local) mayDeepen(k uint) bool {
	st, sh := &l.stacks[k], &l.depot.classes[k]
	return st.depth < uint32(sh.batch) || st.depth < sh.deepest && st.gets() != l.counts[k].before
}

// deepen gives the stack of class k twice the depth that it has, and that which it
// has a right to in any case even if others have to give up what they got beyond.
func (l *Local) deepen(k uint) {
	st, sh := &l.stacks[k], &l.depot.classes[k]
	right, deepest := sh.depth, sh.deepest
	if st.gets() == l.counts[k].before {
		right = min(right, uint32(sh.batch))
		deepest = right
	}
	if st.depth >= deepest || l.resize(k, min(max(2*st.depth, right), deepest)) || st.depth >= right {
		return
	}
	for j := range l.stacks {
		if beyond := l.depot.classes[j].depth; l.stacks[j].depth > beyond {
			l.cut(uint(j), beyond)
		}
	}
	l.resize(k, right)
}

// cut takes the stack of class k back to depth.
func (l *Local) cut(k uint, depth uint32) {
	if n := l.stacks[k].n(); n > depth {
		l.spill(k, n-depth)
	}
	l.resize(k, depth)
}

// relax takes the depth from the empty stack of class k, unless it is a small one.
func (l *Local) relax(k uint) {
	sh := &l.depot.classes[k]
	depth := uint32(0)
	if sh.depth == stackLen {
		depth = uint32(sh.batch)
	}
	l.resize(k, depth)
}

// resize changes the depth of a stack, which has no more buffers than that, and
// reports whether there is room.
func (l *Local) resize(k uint, depth uint32) bool {
	st := &l.stacks[k]
	need := (int64(depth) - int64(st.depth)) * int64(st.size)
	if need > l.room {
		return false
	}
	l.room -= need
	st.depth = depth
	return true
}
