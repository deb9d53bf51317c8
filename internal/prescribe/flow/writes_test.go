package flow_test

import (
	"go/token"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const writesProgram = `package m

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

type item struct{ n int }

type list struct {
	mu    sync.Mutex
	items []item
	names []string
	total int
	hook  func(int)
}

func (l *list) sum(i item) { l.total += i.n }

func (l *list) put(i item) { l.items = append(l.items, i) }

func (l *list) deep(i item) { l.put(i) }

func quietLoop(l *list, i item, b *strings.Builder) {
	l.sum(i)
	l.names[0] = strconv.Itoa(i.n)
	l.names = append(l.names, "x")
	local := i
	local.n++
	strings.ToUpper(l.names[0])
}

func setsLoop(l *list, i item) { l.items[0] = i }

func partLoop(l *list, i item) { l.items[0].n = 1 }

func pointerLoop(p *item) { p.n = 1 }

func appendLoop(l *list, i item) { l.items = append(l.items[:0], i) }

func deepLoop(l *list, i item) { l.deep(i) }

func hookLoop(l *list, i item) { l.hook(i.n) }

func sortLoop(l *list, i item) { slices.SortFunc(l.items, func(a, b item) int { return a.n - b.n }) }

func lockLoop(l *list, i item) { l.mu.Unlock() }

func goLoop(l *list, i item) { go l.sum(i) }
`

// TestMayWrite: functions whose names begin with quiet write to no element of type item.
func TestMayWrite(t *testing.T) {
	p, _ := sourcetest.Load(t, writesProgram)
	seen := 0
	for fn := range p.Functions() {
		if !strings.HasSuffix(fn.Name(), "Loop") {
			continue
		}
		seen++
		elem := fn.Pkg.Type("item").Type()
		want := !strings.HasPrefix(fn.Name(), "quiet")
		if got := flow.MayWrite(fn, token.NoPos, 1<<40, elem); got != want {
			t.Errorf("%s: may write is %v", fn.Name(), got)
		}
	}
	if seen != 10 {
		t.Errorf("%d functions", seen)
	}
}
