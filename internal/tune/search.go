package tune

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TryOptions say how to run the program that a plan is for.
type TryOptions struct {
	Dir        string
	Command    prove.Command
	BuildFlags []string
	// Toolchain and Experiment are of the recommended side; "" leaves them.
	Toolchain, Experiment string
	Budget                time.Duration // of the comparison at the end; 0 means two minutes
	Knee                  float64       // as in Options
	Progress              func(format string, args ...any)
}

// Trials are the runs that a plan was tried with.
type Trials struct {
	Today   gcmodel.Setting
	Chosen  gcmodel.Setting // by the steps; the plan's where they did not stop before
	Steps   []Step
	Stopped string // why the steps ended
	// Compared is today's setting, A, against the chosen one, B; nil where they
	// are the same.
	Compared *prove.Result
	// Rows are its figures with the forecast beside them.
	Rows []Row
	// Latency is the median over the runs of A and of B; zero where the load
	// tool does not tell.
	Latency [2]Latency
	// Built says that B differs in its toolchain or experiment too, of which the
	// forecast knows nothing.
	Built bool
}

// Step is one setting tried against the one that the step before it kept.
type Step struct {
	Setting gcmodel.Setting
	Against gcmodel.Setting
	Gained  stats.Interval // share of CPU that the collector takes less than under Against
	Saved   stats.Interval // the same of all steps together, so than under today's
	Result  *prove.Result
	Latency [2]Latency
}

// Try runs a program with settings from today's towards the plan's, in steps
// that double the added headroom, until a step saves less than the knee beyond the
// one before it or takes more memory than there is. It then compares today's setting with the one that
// it stopped at. The unit of all runs is prove's: a process, in turns.
func Try(ctx context.Context, p *Plan, o TryOptions) (*Trials, error) {
	if o.Budget <= 0 {
		o.Budget = 2 * time.Minute
	}
	if o.Knee <= 0 {
		o.Knee = 0.01
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	tmp, err := os.MkdirTemp("", "heaptrim-tune-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	s := &search{o: o, plan: p, tmp: tmp}
	t := &Trials{Today: p.Workload.Trace.Setting}
	if err := s.climb(ctx, t); err != nil {
		return nil, err
	}
	if t.Chosen == t.Today && o.Toolchain == "" && o.Experiment == "" {
		return t, nil
	}
	o.Progress("comparing %s with %s", SettingText(t.Today), SettingText(t.Chosen))
	if t.Compared, err = s.compare(ctx, pair{t.Today, t.Chosen}, o.Budget); err != nil {
		return nil, err
	}
	t.Latency, t.Built = latencyOf(t.Compared), o.Toolchain != "" || o.Experiment != ""
	t.Rows = beside(t.Compared, p.Today, p.At(t.Chosen))
	return t, nil
}

// search is one search under way.
type search struct {
	o    TryOptions
	plan *Plan
	tmp  string
	runs int // comparisons made
}

// climb steps up until the knee.
func (s *search) climb(ctx context.Context, t *Trials) error {
	t.Chosen = t.Today
	c := s.plan.Choice
	if c.Refused != "" || c.Knob == KnobNone {
		t.Stopped = "the plan recommends nothing else"
		return nil
	}
	if c.Point.Forecast.Setting.Ballast > 0 && strings.Contains(s.o.Command.Package, "@") {
		t.Stopped = "a ballast is added to the source of package main, and that of a released command is not yours: " +
			"try it in a clone"
		return nil
	}
	if c.Costs <= 0 {
		// There is nothing to climb: the plan goes down to fit the memory.
		t.Chosen, t.Stopped = c.Point.Forecast.Setting, "the recommended setting takes less memory than today's"
		return nil
	}
	var all stats.Interval
	t.Stopped = "every step was worth its memory; the last is the plan's doubled"
	for _, k := range []float64{0.25, 0.5, 1, 2} {
		set, ok := part(t.Today, c.Point.Forecast.Setting, k, s.plan)
		if !ok {
			continue
		}
		s.o.Progress("trying %s", SettingText(set))
		r, err := s.compare(ctx, pair{t.Chosen, set}, 1)
		if err != nil {
			return err
		}
		step := Step{Setting: set, Against: t.Chosen, Gained: saved(r), Result: r, Latency: latencyOf(r)}
		step.Saved = all.Add(step.Gained)
		t.Steps = append(t.Steps, step)
		if room := s.plan.Constraint.room(); room > 0 && valueOf(r, unitRSS, 1) > room {
			t.Stopped = fmt.Sprintf("%s took %s", SettingText(set), unit.FormatBytes(valueOf(r, unitRSS, 1)))
			return nil
		}
		if !(step.Gained.Value >= s.o.Knee) {
			t.Stopped = fmt.Sprintf("%s saves %s beyond the step before it, less than %s", SettingText(set),
				percent(step.Gained.Value), percent(s.o.Knee))
			return nil
		}
		all, t.Chosen = step.Saved, set
	}
	return nil
}

// part is a setting at k of the way in added headroom from today's to the
// recommended one; beyond 1 it goes on. It is false where there is no such
// setting.
func part(today, to gcmodel.Setting, k float64, p *Plan) (gcmodel.Setting, bool) {
	s := to
	switch p.Choice.Knob {
	case KnobBallast:
		s.Ballast = round(float64(to.Ballast) * k)
	case KnobLimit:
		live := p.Workload.Trace.PeakLive()
		s.Limit = round(live + (float64(to.Limit)-live)*k)
		if float64(s.Limit) < safeAtBurst*live {
			return s, false
		}
	default:
		if today.GOGC < 0 || to.GOGC < today.GOGC {
			return s, k == 1
		}
		s.GOGC = today.GOGC + int(math.Round(float64(to.GOGC-today.GOGC)*k))
	}
	return s, s != today
}

// Units of prove's metrics that the search reads.
const (
	unitRSS    = "peak-RSS-bytes"
	unitGC     = "gc-cpu-share"
	unitAssist = "gc-assist-share"
	unitHeap   = "peak-heap-bytes"
	unitCycles = "gc-cycles"
	unitCPU    = "cpu-sec"
	unitCPUReq = "cpu-ns/req"
	unitP50    = "latency-p50-ns"
	unitP99    = "latency-p99-ns"
)

// saved is the share of CPU that B's collector takes less than A's: what the
// setting changes, and far steadier from run to run than all CPU per request.
// Where other processes keep it from running, the collector's own clock counts
// more than there was; then it is all CPU that tells.
func saved(r *prove.Result) stats.Interval {
	c, ok := changeOf(r, unitGC)
	if ok && math.Max(c.A.Value, c.B.Value) > 1 {
		return savedCPU(r)
	}
	if !ok {
		return stats.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	out := stats.Interval{Value: c.A.Value - c.B.Value, Low: math.Inf(-1), High: math.Inf(1)}
	// The median of fewer runs has no bounds.
	if min(c.Runs.A, c.Runs.B) >= boundedRuns {
		out.Low, out.High = c.A.Low-c.B.High, c.A.High-c.B.Low
	}
	return out
}

const boundedRuns = 6

// savedCPU is the part of A's CPU for the same work that B does without.
func savedCPU(r *prove.Result) stats.Interval {
	for _, u := range []string{unitCPUReq, unitCPU} {
		if c, ok := changeOf(r, u); ok {
			return c.Delta.Scale(-1)
		}
	}
	return stats.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
}

func changeOf(r *prove.Result, u string) (prove.Change, bool) {
	for _, c := range r.Comparisons {
		for _, ch := range c.Changes {
			if ch.Unit == u && ch.Runs.A > 0 && ch.Runs.B > 0 {
				return ch, true
			}
		}
	}
	return prove.Change{}, false
}

// valueOf is the median of a metric on one side, 0 when it is not known.
func valueOf(r *prove.Result, u string, side int) float64 {
	c, ok := changeOf(r, u)
	switch {
	case !ok:
		return 0
	case side == 0:
		return c.A.Value
	}
	return c.B.Value
}

// pair is two settings to compare.
type pair struct{ a, b gcmodel.Setting }

// compare runs one setting against another.
func (s *search) compare(ctx context.Context, of pair, budget time.Duration) (*prove.Result, error) {
	s.runs++
	dir := filepath.Join(s.tmp, fmt.Sprintf("%d", s.runs))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	a, err := s.side(ctx, of.a, filepath.Join(dir, "a"))
	if err != nil {
		return nil, err
	}
	b, err := s.side(ctx, of.b, filepath.Join(dir, "b"))
	if err != nil {
		return nil, err
	}
	b.Toolchain, b.Experiment = s.o.Toolchain, s.o.Experiment
	c := s.o.Command
	r, err := prove.Run(ctx, prove.Options{
		Dir: s.o.Dir, Sides: []sides.Side{a, b}, Command: &c, Budget: budget, BuildFlags: s.o.BuildFlags,
		Progress: s.o.Progress,
	})
	if err != nil {
		return nil, err
	}
	for _, cmp := range r.Comparisons {
		for i, f := range cmp.Failed {
			if f != "" {
				return nil, fmt.Errorf("%s fails: %s", r.Sides[i].Spec, f)
			}
		}
	}
	return r, nil
}

// side is the working tree with a setting. A ballast is a variable of package
// main that an overlay adds; it is the first thing that package makes.
func (s *search) side(ctx context.Context, set gcmodel.Setting, dir string) (sides.Side, error) {
	side := sides.Side{Source: sides.Work, Env: envOf(set)}
	if set.Ballast == 0 {
		return side, nil
	}
	args := append(append([]string{"list"}, s.o.BuildFlags...), "-f", "{{.Dir}}", s.o.Command.Package)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.o.Dir
	out, err := cmd.Output()
	if err != nil {
		return side, fmt.Errorf("find the folder of %s: %w", s.o.Command.Package, err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return side, err
	}
	source := filepath.Join(dir, "ballast.go")
	text := fmt.Sprintf("package main\n\nvar htrim7qBallast = make([]byte, %d)\n", set.Ballast)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return side, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(strings.TrimSpace(string(out)), "0heaptrim_ballast.go"): source,
	}})
	if err != nil {
		return side, err
	}
	side.Overlay = filepath.Join(dir, "overlay.json")
	return side, os.WriteFile(side.Overlay, overlay, 0o600)
}
