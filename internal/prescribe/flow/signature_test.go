package flow_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

// TestFixedSignature: functions whose results an interface or a function type states, and others.
func TestFixedSignature(t *testing.T) {
	p, _ := sourcetest.Load(t, `package m

type result struct{ n int }

type rule interface {
	apply(text string) *result
	name() string
}

type short struct{}

func (*short) apply(text string) *result { return &result{len(text)} }
func (*short) name() string              { return "short" }
func (*short) other() *result            { return nil }

type lone struct{}

func (lone) apply(text string) *result { return nil }

func apply() *result { return nil }

func applied() int { return apply().n }

func listed() *result { return &result{} }

var table = []func() *result{listed}

func literal() func() *result {
	return func() *result { return &result{} }
}
`)
	got, tracer := map[string]bool{}, life.New(p)
	for fn := range p.Functions() {
		got[fn.RelString(fn.Pkg.Pkg)] = tracer.Given(fn)
	}
	for name, want := range map[string]bool{"(*short).apply": true, "(*short).name": true, "(*short).other": false, "(lone).apply": false, "apply": false, "applied": false, "listed": true, "literal$1": true} {
		if is, ok := got[name]; !ok || is != want {
			t.Errorf("%s: %v, want %v", name, is, want)
		}
	}
}

// TestPutsBack: a Put that is deferred, and others.
func TestPutsBack(t *testing.T) {
	p, _ := sourcetest.Load(t, `package m

import "sync"

type buffer struct{ data []byte }

var pool, other sync.Pool

func deferred() {
	b := pool.Get().(*buffer)
	defer pool.Put(b)
	b.data = nil
}

func atTheEnd() {
	b := pool.Get().(*buffer)
	b.data = nil
	pool.Put(b)
}

func ofAnother(b *buffer) {
	_ = pool.Get().(*buffer)
	defer other.Put(b)
}
`)
	for fn := range p.Functions() {
		if fn.Blocks == nil || fn.Synthetic != "" {
			continue
		}
		line := p.LineOf(fn.Pos()) + 1
		if got := flow.PutsBack(fn, line); got != (fn.Name() == "deferred") {
			t.Errorf("%s: %v", fn.Name(), got)
		}
	}
}
