package life

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const acting = `package m

import (
	"fmt"
	"sync"
)

type registry struct {
	m    sync.Map
	last string
}

func (r *registry) actSwap(key string) any {
	old, _ := r.m.Swap(key, r)
	return old
}

func text(n int) string { return fmt.Sprintf("%d left", n) }

func why(n int) string { return text(n) }

func (r *registry) set(s string) string {
	r.last = s
	return s + "."
}

func (r *registry) actSet(s string) string { return r.set(s) }

func actBy(f func() string) string { return f() }
`

// TestActs: calls in functions whose names begin with act may do more than to make their result.
func TestActs(t *testing.T) {
	p, _ := sourcetest.Load(t, acting)
	seen := 0
	for fn := range p.Functions() {
		for in := range flow.Instructions(fn) {
			c, ok := in.(*ssa.Call)
			if !ok || fn.Name() == "init" {
				continue
			}
			seen++
			if got := acts(c); got != strings.HasPrefix(fn.Name(), "act") {
				t.Errorf("%s: %v", fn.Name(), got)
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d calls", seen)
	}
}
