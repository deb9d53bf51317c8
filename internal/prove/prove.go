// Package prove runs versions of a program side by side – two or more, the
// first is what the others are compared with – and says which one is better. A
// version, a [Side], is code – a git revision, the working tree, a
// folder, an overlay – with a toolchain and settings; what is run are the
// benchmarks of packages, or a command, alone or under load.
//
// The unit of a measurement is a process. All sides are built once and run in
// turns, A B B A or B A A B by lot, until the interval of the change is narrow
// enough or the budget is spent. What is counted is compared exactly where it
// is the same in every run; what varies is compared by pairs of neighbouring
// runs and by x/perf/benchmath, and called a difference only when both tests
// agree after an adjustment for all calls that are made together.
package prove

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/record/host"
)

// Options say what to compare and for how long.
type Options struct {
	Dir        string          // the folder that it is about; "" is the current one
	Sides      []sides.Side    // A, and the others to compare with it; from two to MaxSides
	Packages   []string        // whose benchmarks run; none means "."
	Bench      string          // regular expression as of go test; "" runs all
	BenchTime  gocmd.BenchTime // length of one run; by Budget where it is left open
	Command    *Command        // instead of benchmarks
	CacheDir   string          // for copies of released commands; "" is heaptrim in the user's cache
	Budget     time.Duration   // for measuring, without building; 0 means 5 minutes
	BuildFlags []string        // for the go command on all sides
	Rules      Rules
	Seed       uint64 // of the order of runs; 0 draws one
	Progress   func(format string, args ...any)
}

// workload is what the engine can run: benchmarks or a command.
type workload interface {
	// prepare builds all sides and finds what can be compared.
	prepare(ctx context.Context) ([]*subject, error)
	// run makes one run.
	run(ctx context.Context, s *subject, o runOrder) (Sample, error)
}

// engine is one comparison under way.
type engine struct {
	o      Options
	dir    string // absolute, without symbolic links
	tmp    string
	trees  []*sides.Tree
	rng    *rand.Rand
	result *Result
}

// MaxSides is how many sides have a letter.
const MaxSides = 26

// Letter is the name of the side at a place in Result.Sides.
func Letter(side int) string { return string(rune('A' + side)) }

// Run compares sides with the first. When ctx ends while it measures, the result
// holds what was measured until then, with Partial set, and the error is nil; before
// that the error is ctx's. The user's files are not changed: what is built and
// checked out lies in a temporary folder that is gone when Run returns.
func Run(ctx context.Context, o Options) (*Result, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(e.tmp)
	m := sides.Maker{Dir: e.dir, Tmp: e.tmp, BuildFlags: o.BuildFlags, CacheDir: o.CacheDir, Progress: e.progress, Warn: e.warn}
	if o.Command != nil {
		m.Command = o.Command.Package
	}
	for i, s := range e.o.Sides {
		t, err := m.Make(ctx, strings.ToLower(Letter(i)), s)
		if err != nil {
			return nil, fmt.Errorf("%s (%s): %w", Letter(i), s, err)
		}
		e.trees = append(e.trees, t)
	}
	var w workload = &benchmarks{engine: e}
	e.result.Target.Kind = KindPackages
	if o.Command != nil {
		w = &command{engine: e, Command: *o.Command}
		e.result.Target.Kind = o.Command.Kind()
	}
	subjects, err := w.prepare(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range e.trees {
		e.result.Sides = append(e.result.Sides, t.Info)
	}
	if err := e.measure(ctx, w, subjects); err != nil {
		return nil, err
	}
	e.finish(subjects)
	return e.result, nil
}

func newEngine(o Options) (*engine, error) {
	if n := len(o.Sides); n < 2 || n > MaxSides {
		return nil, fmt.Errorf("%d sides to compare: want from 2 to %d", n, MaxSides)
	}
	if o.Budget <= 0 {
		o.Budget = 5 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Seed == 0 {
		// 53 bits survive every reader of JSON.
		o.Seed = rand.Uint64N(1<<53-1) + 1
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "heaptrim-prove-")
	if err != nil {
		return nil, err
	}
	e := &engine{o: o, dir: dir, tmp: tmp, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	e.result = &Result{
		Rules: o.Rules.withDefaults(), Seed: o.Seed, Environment: host.Environment(),
		Target: Target{Args: o.Packages, Bench: o.Bench, Flags: o.BuildFlags},
	}
	return e, nil
}

// measure runs rounds over all subjects until each has enough or the budget is
// spent. Taking turns spreads what the machine does meanwhile over all of them.
// The first two rounds give what is exact, so they may take the budget twice.
func (e *engine) measure(ctx context.Context, w workload, subjects []*subject) error {
	start := time.Now()
	defer func() { e.result.Measured = time.Since(start) }()
	for turn := 1; ; turn++ {
		ran := false
		needed := e.needed(max(len(subjects), testsIn(comparisons(subjects))))
		for i, s := range subjects {
			left := e.o.Budget - time.Since(start)
			if turn <= 2 {
				left += e.o.Budget
			}
			if s.stop(needed, e.result.Rules) || left < s.cost() && turn > 1 {
				continue
			}
			e.progress("measuring %d/%d %s, round %d; %v left%s", i+1, len(subjects), s.name, turn, max(e.o.Budget-time.Since(start), 0).Round(time.Second),
				clearNote(e.result.ClearAfter, e.result.Rules.Precision))
			if err := e.round(ctx, w, s); err != nil {
				return e.interrupted(ctx, subjects, err)
			}
			ran = true
		}
		if !ran {
			return nil
		}
		e.noteClear(comparisons(subjects))
	}
}

// noteClear notes after how many pairs every call was clear, of each figure that is judged, if it is now. Measuring goes on:
// to end there would make chance differences more likely to be called.
func (e *engine) noteClear(cs []Comparison) {
	judge(cs, e.result.Rules)
	pairs := 0
	for _, c := range cs {
		if c.Outcome == Unclear || slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Outcome == Unclear }) {
			e.result.ClearAfter = 0
			return
		}
		pairs = max(pairs, c.Pairs)
	}
	if e.result.ClearAfter == 0 {
		e.result.ClearAfter = pairs
	}
}

// clearNote says that measuring goes on although the calls are clear.
func clearNote(pairs int, precision float64) string {
	if pairs == 0 {
		return ""
	}
	return fmt.Sprintf("; clear after %d pairs, going on to know it to ±%.3g %%", pairs, 100*precision)
}

// interrupted keeps what is measured, if there is anything.
func (e *engine) interrupted(ctx context.Context, subjects []*subject, err error) error {
	if ctx.Err() == nil {
		return err
	}
	for _, s := range subjects {
		if s.measured() {
			e.result.Partial = true
			return nil
		}
	}
	return ctx.Err()
}

// round makes the next runs of a subject. A run that fails ends its side of the
// subject, and the subject where nothing is left to compare; it is a finding
// about it, not an error.
func (e *engine) round(ctx context.Context, w workload, s *subject) error {
	defer s.compare(e.result.Target.Kind, e.result.Rules.Gate)
	for _, o := range s.round(e.rng) {
		if s.failed[o.side] != "" {
			continue
		}
		r, err := w.run(ctx, s, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if e.loadFails(ctx, w, s, err) {
				return err
			}
			s.failed[o.side] = err.Error()
			if s.over() {
				return nil
			}
			continue
		}
		s.learn(r)
		s.runs = append(s.runs, r)
	}
	return nil
}

// loadFails tells whether a load that failed on one side before it worked on any
// fails on another too: then it is the load that is wrong, not a side. So it is
// where somebody else has taken the program's address.
func (e *engine) loadFails(ctx context.Context, w workload, s *subject, err error) bool {
	switch {
	case errors.Is(err, errTaken):
		return true
	case !errors.Is(err, errLoad), len(s.runs) > 0:
		return false
	}
	for _, side := range s.alive() {
		if _, other := w.run(ctx, s, runOrder{side: side}); !errors.Is(other, errLoad) {
			return false
		}
	}
	return true
}

// finish makes the calls and the verdict.
func (e *engine) finish(subjects []*subject) {
	e.result.Comparisons = comparisons(subjects)
	judge(e.result.Comparisons, e.result.Rules)
	e.lookBack()
	e.result.Verdict, e.result.BySide = verdicts(e.result.Comparisons, len(e.trees))
}

func comparisons(subjects []*subject) []Comparison {
	var out []Comparison
	for _, s := range subjects {
		out = append(out, s.against...)
	}
	return out
}

// lookBack adds the warnings that only the whole shows.
func (e *engine) lookBack() {
	r := e.result
	a := e.o.Sides[0]
	for i, b := range e.o.Sides[1:] {
		if a.Source == sides.Revision && b.Source == sides.Work && r.Sides[0].Commit == r.Sides[i+1].Commit && !r.Sides[i+1].Dirty {
			e.warn("the working tree is the same as %s", a.At)
		}
	}
	e.alike()
	e.busy()
	e.unmeasured()
	e.failing()
	e.mute()
	if clockRuns(r.Comparisons) {
		e.warn("the collector took more than all CPU time, by the runtime's clock, which goes on while other processes run: its shares and pauses are too high")
	}
	needed := e.needed(testsIn(r.Comparisons))
	few := 0
	for _, c := range r.Comparisons {
		if c.Pairs < needed && c.Failed[0] == "" && c.Failed[1] == "" {
			few++
		}
	}
	if few > 0 {
		e.warn("%d of %d have fewer than the %d pairs of runs that it takes to call a change of what varies: use a larger -budget, or fewer benchmarks", few, len(r.Comparisons), needed)
	}
}

// alike notes sides that are one program.
func (e *engine) alike() {
	for i, t := range e.trees {
		for k, u := range e.trees[i+1:] {
			switch {
			case !t.SameAs(u):
			case len(e.trees) == 2:
				e.warn("both sides are the same program with the same settings: what differs between them is chance")
			default:
				e.warn("%s and %s are the same program with the same settings: what differs between them is chance", Letter(i), Letter(i+1+k))
			}
		}
	}
}

// failing notes a load whose requests fail on A already: it measures the making
// of errors.
func (e *engine) failing() {
	for _, c := range e.result.Comparisons {
		if share := medianOf(c.Runs, 0, unitFailed); share > muchMoreFail {
			e.warn("%.3g %% of the load's requests fail in A: is the load right?", share*100)
			return
		}
	}
}

// mute notes a load that says nothing of its requests.
func (e *engine) mute() {
	if e.result.Target.Kind != KindLoad {
		return
	}
	runs := 0
	for _, c := range e.result.Comparisons {
		for _, r := range c.Runs {
			if _, ok := r.Values[unitReqs]; ok {
				return
			}
			runs++
		}
	}
	if runs > 0 {
		e.warn("nothing that the load printed is understood, so there is neither throughput nor latency: use a tool that heaptrim prove -h names, or judge by -gate %s", unitCPU)
	}
}

// busy notes that CPU time would tell more than time does: on a machine with
// other work, processes wait for a processor, and that is in the one only.
func (e *engine) busy() {
	better := 0
	for _, c := range e.result.Comparisons {
		var time, cpu *Change
		for i := range c.Changes {
			switch c.Changes[i].Unit {
			case unitTime:
				time = &c.Changes[i]
			case unitCPUOp:
				cpu = &c.Changes[i]
			}
		}
		if time != nil && cpu != nil && time.Outcome == Unclear && cpu.halfWidth() < time.halfWidth()/2 {
			better++
		}
	}
	if better > 0 {
		e.warn("in %d of %d the change of CPU time is known twice as well as that of time, as on a busy machine: -gate %s,%s,%s judges by it",
			better, len(e.result.Comparisons), unitCPUOp, unitBytes, unitAllocs)
	}
}

// unmeasured notes units of -gate that nothing was measured in.
func (e *engine) unmeasured() {
	var units []string
	for _, c := range e.result.Comparisons {
		for _, ch := range c.Changes {
			if !slices.Contains(units, ch.Unit) {
				units = append(units, ch.Unit)
			}
		}
	}
	for _, g := range e.result.Rules.Gate {
		if len(units) > 0 && !slices.Contains(units, g) {
			e.warn("-gate %s: nothing was measured in this unit, so it judges nothing; there are %s", g, strings.Join(units, ", "))
		}
	}
}

// clockRuns tells whether a share of the collector is more than there was.
func clockRuns(list []Comparison) bool {
	for _, c := range list {
		for _, ch := range c.Changes {
			if ch.Unit == unitGCCPU && max(ch.A.Value, ch.B.Value) > 1 {
				return true
			}
		}
	}
	return false
}

func (e *engine) progress(format string, args ...any) { e.o.Progress(format, args...) }

func (e *engine) warn(format string, args ...any) {
	e.result.Warnings = append(e.result.Warnings, fmt.Sprintf(format, args...))
}

func (e *engine) leaveOut(format string, args ...any) {
	e.result.LeftOut = append(e.result.LeftOut, fmt.Sprintf(format, args...))
}
