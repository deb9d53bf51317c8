package latency

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

type groupKey struct{ start, handler string }

const httpServe = "net/http.(*conn).serve"

// place finds the group of g, or the handler in which it ran until now. The start
// function is known from g's creation or from the root of any of its stacks.
func (a *account) place(g *goroutine, ev *exectrace.Event) {
	if ev.Stack == 0 {
		return
	}
	if g.group == nil {
		start := a.start(ev.Stack)
		if start == "" {
			return
		}
		g.serving = start == httpServe
		g.group = a.group(groupKey{start: start})
		g.group.Goroutines++
		if ev.From == exectrace.NotExist {
			return
		}
	}
	if !g.serving || ev.From != exectrace.Running {
		return
	}
	// The stack is of what ran until now.
	next, ok := a.gen.handlers.get(uint32(ev.Stack))
	if !ok {
		next = a.group(groupKey{httpServe, a.handler(ev.Stack)})
		a.gen.handlers.set(uint32(ev.Stack), next)
	}
	if next == g.group {
		return
	}
	a.book(g)
	g.group = next
}

func (a *account) group(k groupKey) *Group {
	g := a.groups[k]
	if g == nil {
		g = &Group{Start: k.start, Handler: k.handler}
		g.System = strings.HasPrefix(k.start, "runtime.") && k.start != "runtime.main" || evidence.OfRecorder(k.start)
		a.groups[k] = g
	}
	return g
}

// book adds g's time since the last call of book to its group.
func (a *account) book(g *goroutine) {
	d := g.spent.less(&g.booked)
	g.booked = g.spent
	if g.group == nil { // no stack of it was seen
		g.group = a.group(groupKey{})
		g.group.Goroutines++
	}
	g.group.Split.Add(&d)
}

// wraps reports whether goroutines that begin in a function are better named by its callee.
func wraps(name string) bool {
	return name == "sync.(*WaitGroup).Go.func1" || name == "golang.org/x/sync/errgroup.(*Group).Go.func1"
}

// start returns the function at the root of a stack. It returns "" if the stack was
// cut off, or does not yet show the callee of a wrapper.
func (a *account) start(s exectrace.Stack) string {
	name, ok := a.gen.starts.get(uint32(s))
	if ok {
		return name
	}
	const deepest = 128
	n, above := 0, ""
	for f := range a.names.Frames(s) {
		above, name = name, f.Func
		n++
	}
	switch {
	case n >= deepest:
		name = ""
	case wraps(name):
		name = above
	}
	a.gen.starts.set(uint32(s), name)
	return name
}

// handler returns the innermost HTTP handler on a stack: the last ServeHTTP outside of
// net/http, or else the function that the last ServeHTTP of net/http called.
func (a *account) handler(s exectrace.Stack) string {
	name, below := "", ""
	for f := range a.names.Frames(s) {
		if evidence.OfRecorder(f.Func) {
			below = ""
			continue
		}
		if strings.HasSuffix(f.Func, ".ServeHTTP") {
			if name = f.Func; strings.HasPrefix(name, "net/http.") {
				name = below
			}
			break
		}
		below = f.Func
	}
	return name
}

// sortGroups orders groups by their time in memory management, which the page shows, too; then by waits during marking.
func sortGroups(groups map[groupKey]*Group) []Group {
	list := make([]Group, 0, len(groups))
	for _, g := range groups {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(x, y Group) int {
		return cmp.Or(cmp.Compare(y.Split.Memory(), x.Split.Memory()), cmp.Compare(y.Split[WaitMark], x.Split[WaitMark]),
			cmp.Compare(x.Start, y.Start), cmp.Compare(x.Handler, y.Handler))
	})
	return list
}
