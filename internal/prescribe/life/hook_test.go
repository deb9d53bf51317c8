package life

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

const hookProgram = `package p

type span struct{ ends int }

var (
	never    func(*span)
	Exported func(*span)
	set      func(*span)
	cleared  func(*span) = nil
	taken    func(*span)
	last     *span
)

func init() {
	set = func(s *span) { last = s }
	pointTo(&taken)
}

func pointTo(f *func(*span)) { *f = func(s *span) { last = s } }

type owner struct{ hook func(*span) }

func (s *span) end(f func(*span)) {
	if f != nil {
		f(s)
	}
}

func neverSet() { s := &span{}; if never != nil { never(s) } } // never

func onlyCleared() { s := &span{}; if cleared != nil { cleared(s) } } // cleared

func alsoKept() { s := &span{}; last = s; if never != nil { never(s) } } // -

func exported() { s := &span{}; if Exported != nil { Exported(s) } } // -

func isSet() { s := &span{}; if set != nil { set(s) } } // -

func isTaken() { s := &span{}; if taken != nil { taken(s) } } // -

func (o *owner) field() { s := &span{}; if o.hook != nil { o.hook(s) } } // -

func handed(f func(*span)) { s := &span{}; s.end(f) } // -
`

// TestHook: what a function variable gets that nothing sets dies where it would without the call.
func TestHook(t *testing.T) {
	tracer, file := tracerOf(t, hookProgram)
	for i, line := range strings.Split(hookProgram, "\n") {
		head, want, ok := strings.Cut(line, " // ")
		if !ok {
			continue
		}
		name, prefix := strings.TrimPrefix(head, "func "), ""
		if method, ok := strings.CutPrefix(name, "(o *owner) "); ok {
			name, prefix = method, "(*owner)."
		}
		name, _, _ = strings.Cut(name, "(")
		l := tracer.Trace(Birth{Kind: finding.KindNew}, []evidence.Frame{{File: file, Line: i + 1, Function: prefix + name}})
		if got := l.End == finding.EndFrame && l.Ways.Hook != ""; got != (want != "-") || got && l.Ways.Hook != want {
			t.Errorf("%s: %+v, want the hook %s", name, l, want)
		}
	}
}
