package latency

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// region is a region that is open on a goroutine.
type region struct {
	kind   *kind
	name   string
	task   int64
	start  moment
	before Split // the goroutine's split at its start
	mark   time.Duration
	bears  *task // task whose time is measured on this goroutine since the region began
}

// task is an open task. Its time is measured on one goroutine at a time: the one that
// began it, or the one with its most recent open region.
type task struct {
	kind    *kind
	request Request
	start   moment
	mark    time.Duration

	bearers []*goroutine
	gone    bool // it has ended, although a region of it may be open
	regions int  // open regions that carry it
	since   moment
	before  Split // the last bearer's split at that time
}

func (a *account) beginRegion(ev *exectrace.Event) {
	g := a.goroutine(ev.Goroutine)
	a.flush(g)
	r := region{kind: a.kindOf(Region, ev.Text), name: a.names.Text(ev.Text), task: ev.Subject, start: a.now, before: g.spent, mark: a.pause.mark.at(a.now)}
	if t := a.open.tasks.Find(ev.Subject); t != nil && t.bearer() != g {
		a.shift(t)
		t.bearers = append(t.bearers, g)
		g.bore = true
		t.before = g.spent
		t.regions++
		r.bears = t
	}
	g.regions = append(g.regions, r)
}

func (a *account) endRegion(ev *exectrace.Event) {
	g := a.goroutine(ev.Goroutine)
	n := len(g.regions) - 1
	if n < 0 || g.regions[n].task != ev.Subject || g.regions[n].name != a.names.Text(ev.Text) {
		return // it began before the trace
	}
	a.flush(g)
	r := &g.regions[n]
	g.regions = g.regions[:n]
	r.kind.add(&Request{
		Start: r.start.Sub(a.first), Length: a.now.Sub(r.start), Goroutine: g.id, Task: uint64(r.task),
		Split: g.spent.less(&r.before), Mark: a.pause.mark.at(a.now) - r.mark,
	})
	if t := r.bears; t != nil {
		t.regions--
		if !t.gone {
			a.release(t, g)
		} else if t.regions == 0 {
			a.open.spare = append(a.open.spare, t)
		}
	}
}

func (a *account) beginTask(ev *exectrace.Event) {
	g := a.goroutine(ev.Goroutine)
	a.flush(g)
	var t *task
	if n := len(a.open.spare); n > 0 {
		t, a.open.spare = a.open.spare[n-1], a.open.spare[:n-1]
	} else {
		t = &task{}
	}
	a.open.tasks.Add(ev.Subject, t)
	g.bore = true
	*t = task{
		kind: a.kindOf(Task, ev.Text), start: a.now, since: a.now, before: g.spent, mark: a.pause.mark.at(a.now), bearers: append(t.bearers[:0], g),
		request: Request{Start: a.now.Sub(a.first), Goroutine: g.id, Task: uint64(ev.Subject)},
	}
}

func (a *account) endTask(ev *exectrace.Event) {
	id := ev.Subject
	t := a.open.tasks.Find(id)
	if t == nil {
		return // it began before the trace, or ended twice
	}
	a.open.tasks.Drop(id)
	a.shift(t)
	t.request.Length, t.request.Mark = a.now.Sub(t.start), a.pause.mark.at(a.now)-t.mark
	t.kind.add(&t.request)
	if t.gone = true; t.regions == 0 {
		a.open.spare = append(a.open.spare, t)
	}
}

// bearer returns the goroutine on which t's time is measured, or nil.
func (t *task) bearer() *goroutine {
	if n := len(t.bearers); n > 0 {
		return t.bearers[n-1]
	}
	return nil
}

// shift adds t's time until now, split by its bearer's activity.
func (a *account) shift(t *task) {
	g := t.bearer()
	if g == nil {
		t.request.Split[Unknown] += a.now.Sub(t.since)
		t.since = a.now
		return
	}
	if !g.dead {
		a.flush(g)
	}
	rest := a.now.Sub(t.since)
	for i := range g.spent {
		if d := g.spent[i] - t.before[i]; d != 0 { // few parts change
			t.before[i] = g.spent[i]
			t.request.Split[i] += d
			rest -= d
		}
	}
	// After the end of a bearer the time is unknown.
	if rest > 0 {
		t.request.Split[Unknown] += rest
	}
	t.since = a.now
	for b := g; b != nil && b.dead; {
		t.bearers = t.bearers[:len(t.bearers)-1]
		if b = t.bearer(); b != nil {
			a.bear(t, b)
		}
	}
}

// bear measures t's time on g from now on.
func (a *account) bear(t *task, g *goroutine) {
	if !g.dead {
		a.flush(g)
	}
	t.before = g.spent
}

// release removes the last entry of g from t's bearers.
func (a *account) release(t *task, g *goroutine) {
	a.shift(t)
	for i := len(t.bearers) - 1; i >= 0; i-- {
		if t.bearers[i] == g {
			t.bearers = slices.Delete(t.bearers, i, i+1)
			break
		}
	}
	if b := t.bearer(); b != nil {
		a.bear(t, b)
	}
}

// kind collects the requests of one name.
type kind struct {
	Requests
	buckets []*bucket // by bucketOf
}

type kindKey struct {
	kind Kind
	name string
}

// bucket holds requests of almost the same length.
type bucket struct {
	count int
	total time.Duration
	split Split
}

// kindOf returns the kind for a name of this generation.
func (a *account) kindOf(k Kind, name exectrace.Text) *kind {
	known := &a.gen.regions
	if k == Task {
		known = &a.gen.tasks
	}
	if r, ok := known.get(uint32(name)); ok {
		return r
	}
	text := a.names.Text(name)
	r := a.kind(k, text)
	if r.Name == text {
		known.set(uint32(name), r)
	}
	return r
}

func (a *account) kind(k Kind, name string) *kind {
	key := kindKey{k, name}
	if r := a.kinds[key]; r != nil {
		return r
	}
	if len(a.kinds) >= maxKinds {
		a.report.UnlistedKinds++
		if key.name = "(others)"; a.kinds[key] != nil {
			return a.kinds[key]
		}
	}
	r := &kind{Requests: Requests{Kind: k, Name: key.name}}
	a.kinds[key] = r
	return r
}

// add adds a request that has ended.
func (k *kind) add(r *Request) {
	k.Count++
	k.Total += r.Length
	k.Max = max(k.Max, r.Length)
	i := bucketOf(r.Length)
	for len(k.buckets) <= i {
		k.buckets = append(k.buckets, nil)
	}
	b := k.buckets[i]
	if b == nil {
		b = &bucket{}
		k.buckets[i] = b
	}
	b.count++
	b.total += r.Length
	b.split.Add(&r.Split)
	if n := len(k.Slowest); n < shown || r.Length > k.Slowest[n-1].Length {
		k.Slowest = keep(k.Slowest, r, false)
	}
	if n, m := len(k.MostGC), r.Split.Memory(); m > 0 && (n < shown || m > k.MostGC[n-1].Split.Memory()) {
		k.MostGC = keep(k.MostGC, r, true)
	}
}

// keep inserts a copy of r into a short list sorted by time in memory management, or
// by length, greatest first. The amount is not passed as a function: that would make
// requests escape to the heap.
func keep(list []Request, r *Request, byMemory bool) []Request {
	amount := func(r *Request) time.Duration {
		if byMemory {
			return r.Split.Memory()
		}
		return r.Length
	}
	i := len(list)
	for i > 0 && amount(&list[i-1]) < amount(r) {
		i--
	}
	list = slices.Insert(list, i, *r)
	return list[:min(len(list), shown)]
}

// bucketOf numbers buckets that are 1/64 of their lower bound wide.
func bucketOf(d time.Duration) int {
	const fine = 6 // bits that distinguish buckets
	shift := max(bits.Len64(uint64(d))-fine-1, 0)
	return shift<<fine + int(d>>shift)
}

// sum computes quantiles from the buckets.
func (k *kind) sum() Requests {
	seen := 0
	slow := false
	for _, b := range k.buckets {
		if b == nil {
			continue
		}
		k.All.Add(&b.split)
		mean := b.total / time.Duration(b.count)
		reaches := func(q float64) bool {
			rank := int(q * float64(k.Count-1))
			return seen <= rank && rank < seen+b.count
		}
		if reaches(0.5) {
			k.P50 = mean
		}
		if reaches(0.9) {
			k.P90 = mean
		}
		if reaches(0.99) {
			k.P99, slow = mean, true
		}
		if slow {
			k.Slow.Add(&b.split)
			k.SlowN += b.count
		}
		seen += b.count
	}
	return k.Requests
}

func sortRequests(kinds map[kindKey]*kind) []Requests {
	list := make([]Requests, 0, len(kinds))
	for _, k := range kinds {
		if k.Count > 0 {
			list = append(list, k.sum())
		}
	}
	slices.SortFunc(list, func(x, y Requests) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name))
	})
	return list
}
