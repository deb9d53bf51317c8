package escapes

import (
	"hash/maphash"
	"strings"
)

// wait keeps an explanation until the line that states its verdict comes.
func (s *scanner) wait(e *entry) error {
	s.queue = append(s.queue, e)
	s.waiting[e.at] = append(s.waiting[e.at], e)
	if len(s.queue) < maxPending {
		return nil
	}
	// Drop what has been handed on; if nothing has, hand on the older half
	// without its verdict line.
	s.compact()
	if len(s.queue) < maxPending/2 {
		return nil
	}
	for _, old := range s.queue[:maxPending/2] {
		if err := s.emit(s.take(old.at, old.escape.Expr)); err != nil {
			return err
		}
	}
	s.compact()
	return nil
}

func (s *scanner) compact() {
	live := s.queue[:0]
	for _, e := range s.queue {
		if !e.done {
			live = append(live, e)
		}
	}
	clear(s.queue[len(live):])
	s.queue = live
}

// take removes the oldest explanation of the expression that a verdict line
// states, or returns nil. Two equal expressions at one place are two
// allocations (a concatenation that is boxed), each with its own block.
func (s *scanner) take(at position, expr string) *entry {
	entries := s.waiting[at]
	for i, e := range entries {
		if !sameExpr(e.escape.Expr, expr) {
			continue
		}
		e.done = true
		switch {
		case len(entries) == 1:
			delete(s.waiting, at)
		case i == 0:
			s.waiting[at] = entries[1:]
		default:
			s.waiting[at] = append(entries[:i:i], entries[i+1:]...)
		}
		return e
	}
	return nil
}

// sameExpr reports whether a block's expression is the one of a verdict line:
// the verdict on a growing append leaves the arguments out.
func sameExpr(block, verdict string) bool {
	return block == verdict || verdict == "append" && strings.HasPrefix(block, "append(")
}

func (s *scanner) emit(e *entry) error {
	s.stats.Kept++
	return s.yield(e.escape)
}

// decide notes that an expression has its verdict.
func (s *scanner) decide(e *entry) {
	// Far above what a package has; a stream without headers must not fill the
	// memory.
	const maxDecided = 1 << 16
	if len(s.decided) >= maxDecided {
		clear(s.decided)
	}
	s.decided[s.decision(e)] = struct{}{}
}

func (s *scanner) decision(e *entry) decision {
	return decision{e.at, maphash.String(s.seed, e.escape.Expr)}
}

// flush hands on the explanations that never got a verdict line: the compiler
// prints none for the wrappers of go and defer statements. A second
// explanation of what has its verdict already is dropped: the compiler found
// two ways for one value.
func (s *scanner) flush() error {
	s.endBlock()
	for _, e := range s.queue {
		if e.done {
			continue
		}
		if _, ok := s.decided[s.decision(e)]; ok {
			continue
		}
		if err := s.emit(e); err != nil {
			return err
		}
	}
	clear(s.queue)
	s.queue = s.queue[:0]
	clear(s.waiting)
	clear(s.decided)
	return nil
}
