package equal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// mostRoots limits how many functions are called for one change.
const mostRoots = 12

// work is one comparison under way.
type work struct {
	*Comparer
	p      *prepared
	change Change
	diff   diff
	judged *source  // the version of which the rest was judged before
	drive  []string // expressions of the functions to call
	exact  []string // changed functions that callers cannot call: calls of tests are repeated
	watch  []string
	near   watch.Near
	only   []string // tests to run; none means all
	left   map[string]string
	base   *baseline
}

// aim chooses the functions to call and to watch.
func (w *work) aim() {
	w.left = map[string]string{}
	roots := w.p.graph.roots(w.diff.changed)
	for _, f := range roots {
		if slices.Contains(w.diff.another, f.name) {
			continue
		}
		switch {
		case f.bad != "":
			w.left[f.name] = f.bad
		case len(f.calls) == 0:
			w.left[f.name] = "no type arguments are known for it"
		case len(w.drive) < mostRoots:
			w.drive = append(w.drive, f.calls...)
		}
		if len(w.watch) < 3*mostRoots {
			w.watch = append(w.watch, f.name)
		}
	}
	for _, name := range w.diff.changed {
		f := w.p.graph.by[name]
		if f == nil || slices.Contains(w.diff.another, name) {
			continue
		}
		if !slices.Contains(w.watch, name) {
			w.watch = append(w.watch, name)
		}
		if !f.public && f.bad == "" && len(f.calls) == 1 {
			w.exact = append(w.exact, f.calls[0])
		}
	}
}

// key names what is called and which tests run.
func (w *work) key() string {
	return fmt.Sprint(w.drive, w.exact, w.watch, w.change.Bench, w.change.Skip, w.change.Leave, w.diff.fields, w.near)
}

// plan is what a process is to do.
func (w *work) plan() watch.Plan {
	pl := watch.Plan{Module: w.p.module.Path, Watch: w.watch, Drive: w.drive, Words: w.p.words.list, Numbers: w.p.words.numbers, Near: w.near, Ignore: map[string][]string{}}
	for name, fields := range w.diff.fields {
		pl.Ignore[w.p.graph.pkg.Name+"."+name] = fields
	}
	return pl
}

// before explores the package as it is and plays what it found, once for the same functions.
func (w *work) before(ctx context.Context) error {
	if b, ok := w.p.runs[w.key()]; ok {
		w.base = b
		return nil
	}
	bin, err := w.b.Test(ctx, w.change.Package, w.p.files(w.p.source, w.p.made, nil))
	if err != nil {
		return err
	}
	pl := w.plan()
	pl.Explore = w.o.Explore
	for _, e := range w.exact {
		pl.Scenarios = append(pl.Scenarios, watch.Scenario{Function: e, Exact: true})
	}
	found, err := w.run(ctx, bin, &pl, mostEnded)
	if err != nil {
		return err
	}
	if !found.whole {
		return errNotRun
	}
	w.base = &baseline{scenarios: found.found, skip: pl.Skip, drop: pl.Drop, alone: pl.Alone, small: pl.Small}
	if err := w.again(ctx); err != nil {
		return err
	}
	w.p.runs[w.key()] = w.base
	return nil
}

// errNotRun means that the test binary ended before functions could be called.
var errNotRun = errors.New("the tests end their process, so nothing can be called after them")

// again plays the scenarios on the package as it is once more.
func (w *work) again(ctx context.Context) error {
	bin, err := w.b.Test(ctx, w.change.Package, w.p.files(w.p.source, w.p.made, nil))
	if err != nil {
		return err
	}
	pl := w.plan()
	w.base.into(&pl)
	s, err := w.run(ctx, bin, &pl, mostEnded)
	if err != nil {
		return err
	}
	w.base.skip, w.base.drop = pl.Skip, pl.Drop
	w.base.runs = append(w.base.runs, s)
	return nil
}

// turns are the runs of each version that must show a difference. Two entries of a map come in the same
// order in all runs of one version, and in the other order in those of the other, once in 2048 times. Half as
// many are enough where most scenarios differ, for one that is once in 32 times, and where the change ends the process.
const turns = 6

// after plays the scenarios on the change and compares.
func (w *work) after(ctx context.Context, now *source, v *Verdict) error {
	made := instrument(now, true)
	bin, err := w.b.Test(ctx, w.change.Package, w.p.files(now, made, w.change.Files))
	if err != nil {
		return err
	}
	first, err := w.play(ctx, bin)
	if err != nil {
		return err
	}
	v.Reached, v.Blocks = w.reached(now, made, first.hits)
	c := comparison{old: w.base.runs, now: []*seen{first}}
	*v = c.into(*v)
	shared := w.base
	defer func() { w.base = shared }()
	if v.Differs != "" {
		w.base = shared.closer(nil)
		w.base.runs = shared.runs
		err := w.turns(ctx, bin, first, v)
		shared.runs = w.base.runs
		if err != nil || v.Differs != "" {
			return err
		}
	}
	ids := c.sums(shared.scenarios)
	if len(ids) == 0 {
		return nil
	}
	w.base = shared.closer(ids)
	if err := w.again(ctx); err != nil {
		return err
	}
	if first, err = w.play(ctx, bin); err != nil {
		return err
	}
	return w.turns(ctx, bin, first, v)
}

// play plays the scenarios in a version.
func (w *work) play(ctx context.Context, bin version.Binary) (*seen, error) {
	pl := w.plan()
	w.base.into(&pl)
	return w.run(ctx, bin, &pl, mostWrong)
}

// turns compares what a first run of the change showed, and plays again for as long as something differs.
func (w *work) turns(ctx context.Context, bin version.Binary, first *seen, v *Verdict) error {
	calls := v.Calls // those of which sums were noted are among them
	s := first
	for runs := []*seen{s}; ; {
		*v = comparison{old: w.base.runs, now: runs}.into(*v)
		v.Calls = max(v.Calls, calls)
		if v.Differs == "" || len(runs) == turns || len(runs) == turns/2 && (v.most || v.ends) {
			return nil
		}
		for len(w.base.runs) < min(len(runs)+1, turns) {
			if err := w.again(ctx); err != nil {
				return err
			}
		}
		var err error
		if s, err = w.play(ctx, bin); err != nil {
			return err
		}
		runs = append(runs, s)
	}
}

// closer is a baseline in which some scenarios are looked at closely, and others of which only sums were
// noted are not played. Nothing was run yet.
func (b *baseline) closer(ids []string) *baseline {
	c := *b
	c.runs, c.scenarios = nil, nil
	for _, sc := range b.scenarios {
		if !sc.Brief {
			c.scenarios = append(c.scenarios, sc)
		}
	}
	for _, sc := range b.scenarios {
		if sc.Brief && slices.Contains(ids, sc.ID()) {
			sc.Brief = false
			c.scenarios = append(c.scenarios, sc)
		}
	}
	return &c
}

// race calls functions from several goroutines in both versions, with the race detector if it can be
// had, and says what only the change shows.
func (w *work) race(ctx context.Context, now *source) (string, error) {
	if len(w.base.scenarios) == 0 {
		return "", nil
	}
	old := w.base.racing
	if old == nil {
		runs, err := w.racing(ctx, w.p.source, nil, 2)
		if err != nil {
			return "", err
		}
		old = runs
		w.base.racing = runs
	}
	runs, err := w.racing(ctx, now, w.change.Files, 1)
	if err != nil {
		return "", err
	}
	if key := raced(old, runs[0]); key != "" && runs[0].races[key] == watch.ResultsDiffer {
		// By chance, perhaps: such results may come in either version, if seldom.
		again, err := w.racing(ctx, w.p.source, nil, 2)
		if err != nil {
			return "", err
		}
		w.base.racing = append(again, old...)
		more, err := w.racing(ctx, now, w.change.Files, 1)
		if err != nil {
			return "", err
		}
		old, runs = w.base.racing, more
	}
	if key := raced(old, runs[0]); key != "" {
		return key + ": " + runs[0].races[key], nil
	}
	for id, how := range runs[0].ended {
		if _, ok := old[0].races[id]; ok && old[0].races[id] == old[1].races[id] {
			return id + ": " + how, nil
		}
	}
	return "", nil
}

// raced names a note of a run of the change that all runs of the package as it is have otherwise, and none
// as a fault; "" for none.
func raced(old []*seen, now *seen) string {
	for _, key := range slices.Sorted(maps.Keys(now.races)) {
		was, ok := old[0].races[key]
		if ok && now.races[key] != was && !slices.Contains(faults(), was) &&
			!slices.ContainsFunc(old[1:], func(s *seen) bool { return s.races[key] != was }) {
			return key
		}
	}
	return ""
}

// faults are notes of functions that are not to be called from several goroutines at once.
func faults() []string { return []string{watch.DataRace, watch.ResultsDiffer} }

// racing runs a version some times.
func (w *work) racing(ctx context.Context, s *source, changed version.Files, times int) ([]*seen, error) {
	made := instrument(s, false)
	files := w.p.files(s, made, changed)
	bin, err := w.b.Test(ctx, w.change.Package, files, "-race")
	if err != nil && ctx.Err() == nil {
		bin, err = w.b.Test(ctx, w.change.Package, files)
	}
	if err != nil {
		return nil, err
	}
	var out []*seen
	for range times {
		pl := w.plan()
		pl.Race = true
		w.base.into(&pl)
		pl.Scenarios = slices.DeleteFunc(slices.Clone(pl.Scenarios), func(sc watch.Scenario) bool { return sc.Brief })
		s, err := w.run(ctx, bin, &pl, mostEnded)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Limits of what ends processes.
const (
	mostEnded  = 24 // scenarios, before the rest is left
	mostWrong  = 2  // scenarios of a change, which do not end it without the change
	mostSmall  = 2  // kinds of numbers that are made small
	mostDeaths = 2  // of one function, before it is called alone, and before it is not called any more
)

// run runs a test binary by a plan. Scenarios that end the process are put on the plan's list, and it
// goes on without them until they are too many.
func (w *work) run(ctx context.Context, bin version.Binary, pl *watch.Plan, most int) (*seen, error) {
	dir, err := w.b.Temp("watch")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tests, ended, deaths := true, map[string]string{}, map[string]int{}
	for turn := 0; ; turn++ {
		pl.Out = filepath.Join(dir, fmt.Sprint("notes", turn))
		text, err := json.Marshal(pl)
		if err != nil {
			return nil, err
		}
		at := filepath.Join(dir, "plan")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return nil, err
		}
		limit := w.o.Tests + w.o.Explore + time.Minute
		if most == mostWrong && w.p.took > 0 {
			limit = min(limit, 5*time.Second+4*w.p.took) // a change that takes much longer does not do the same
		}
		start := time.Now()
		res, err := w.b.Run(ctx, bin, version.Run{Args: w.args(tests), Env: []string{watch.PlanVariable + "=" + at, "TMPDIR=" + dir, "GORACE=exitcode=0 log_path=" + filepath.Join(dir, "race")}, Limit: limit})
		if err != nil {
			return nil, err
		}
		s, err := readNotes(pl.Out)
		if err != nil {
			return nil, err
		}
		w.o.Progress("%s: %d scenarios, %d notes of tests, whole %v, stopped in %q of %s", bin.Package, len(s.order)+len(s.found), len(s.tests), s.whole, s.stopped, s.function)
		if maps.Copy(s.ended, ended); s.whole {
			if most != mostWrong {
				w.p.took = max(w.p.took, time.Since(start))
			}
			return s, nil
		}
		switch {
		case s.why == "large" && pl.Explore > 0 && pl.Small < mostSmall:
			pl.Small++ // often it is the size of something
		case s.stopped != "" && len(ended) < most:
			w.o.Progress("%s: %s %s: %s", bin.Package, s.function, how(s.why), gocmd.LastLines(string(res.Out), 5))
			pl.Skip = append(pl.Skip, s.stopped)
			ended[s.stopped] = how(s.why)
			if deaths[s.function]++; s.function != "" {
				died(pl, s.function, deaths[s.function])
			}
		case s.stopped == "" && tests:
			tests = false
		default:
			w.o.Progress("%s: %v: %s", bin.Package, res.Ended, gocmd.LastLines(string(res.Out), 5))
			return s, nil
		}
	}
}

// died puts a function on the plan's lists after so many deaths. What ends the process is often a call that
// keeps it company, so it is called without company before it is not called any more.
func died(pl *watch.Plan, function string, deaths int) {
	switch {
	case deaths == mostDeaths && pl.Explore > 0:
		pl.Alone = append(pl.Alone, function)
	case deaths == mostDeaths, deaths == 2*mostDeaths:
		pl.Drop = append(pl.Drop, function)
	}
}

// into lets a plan play what was found.
func (b *baseline) into(pl *watch.Plan) {
	pl.Scenarios, pl.Skip, pl.Drop, pl.Alone, pl.Small = b.scenarios, slices.Clone(b.skip), slices.Clone(b.drop), b.alone, b.small
}

// how a process ended in the middle of a scenario.
func how(why string) string {
	switch why {
	case "late":
		return "does not return"
	case "large":
		return "takes too much memory"
	}
	return "ends the process"
}

// args are the arguments of a test binary.
func (w *work) args(tests bool) []string {
	args := []string{"-test.timeout=0", "-test.parallel=1", "-test.short", "-test.benchtime=2x"}
	switch {
	case !tests:
		return append(args, "-test.run=^$")
	case len(w.only) > 0:
		return append(args, "-test.run="+exactly(w.only))
	}
	var skip []string
	if len(w.change.Skip) > 0 {
		skip = append(skip, exactly(w.change.Skip))
	}
	if w.change.Leave != "" {
		skip = append(skip, w.change.Leave)
	}
	if len(skip) > 0 {
		args = append(args, "-test.skip="+strings.Join(skip, "|"))
	}
	if len(w.change.Bench) > 0 {
		args = append(args, "-test.bench="+exactly(w.change.Bench))
	}
	return args
}

// exactly is a regular expression for names.
func exactly(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// Place is a line of a file.
type Place struct {
	File string // absolute
	Line int
}

// Reach reports whether some tests of a package run a function that holds one of some places.
func (c *Comparer) Reach(ctx context.Context, path string, tests []string, places []Place) (bool, error) {
	p, err := c.prepare(ctx, path)
	if err != nil {
		return false, err
	}
	w := work{Comparer: c, p: p, change: Change{Package: path}, only: tests}
	bin, err := c.b.Test(ctx, path, p.files(p.source, p.made, nil))
	if err != nil {
		return false, err
	}
	pl := w.plan()
	s, err := w.run(ctx, bin, &pl, mostEnded)
	if err != nil {
		return false, err
	}
	for _, b := range s.hits {
		if p.source.holds(p.made.blocks[b].function, places) {
			return true, nil
		}
	}
	return false, nil
}

// holds reports whether a function holds one of some places.
func (s *source) holds(function string, places []Place) bool {
	fn := s.decls[function]
	if fn == nil {
		return false
	}
	from, to := s.fset.Position(fn.Pos()), s.fset.Position(fn.End())
	return slices.ContainsFunc(places, func(p Place) bool { return p.File == from.Filename && from.Line <= p.Line && p.Line <= to.Line })
}
