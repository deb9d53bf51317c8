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

// TryOptions say how to run the plan's program.
type TryOptions struct {
	Dir        string
	Command    prove.Command
	BuildFlags []string
	// Toolchain and Experiment apply to the recommended side; "" changes nothing.
	Toolchain, Experiment string
	Budget                time.Duration // of the final comparison; 0 means two minutes
	Knee                  float64       // as in Options
	Progress              func(format string, args ...any)
}

// Trials are the runs that tried a plan.
type Trials struct {
	Today   gcmodel.Setting
	Chosen  gcmodel.Setting // the last setting that a step kept, or the plan's if that needs less memory
	Steps   []Step
	Stopped string // why the steps ended
	// Compared is today's setting, A, against the chosen one, B; nil if they are the same.
	Compared *prove.Result
	// Rows are its figures together with the forecast.
	Rows []Row
	// Latency is the median over the runs of A and of B; zero if the load tool does not
	// report it.
	Latency [2]Latency
	// Built means that B also differs in toolchain or experiment, which the forecast does
	// not include.
	Built bool
}

// Step is one setting tried against the one that the previous step kept.
type Step struct {
	Setting gcmodel.Setting
	Against gcmodel.Setting
	Gained  stats.Interval // share of CPU by which the collector needs less than with Against
	Saved   stats.Interval // the same for all steps together, so compared with today's setting
	Result  *prove.Result
	Latency [2]Latency
}

// Try runs a program with settings from today's towards the plan's, in steps that
// double the added headroom. It stops when a step saves less than the knee compared
// with the one before, or needs more memory than there is. It then compares today's
// setting with the last one kept. As in prove, each run is a new process, and the
// settings take turns.
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

// search is the state of one Try.
type search struct {
	o    TryOptions
	plan *Plan
	tmp  string
	runs int // comparisons made
}

// climb takes steps up to the knee.
func (s *search) climb(ctx context.Context, t *Trials) error {
	t.Chosen = t.Today
	c := s.plan.Choice
	if c.Refused != "" || c.Knob == KnobNone {
		t.Stopped = "the plan recommends no other setting"
		return nil
	}
	if c.Point.Forecast.Setting.Ballast > 0 && strings.Contains(s.o.Command.Package, "@") {
		t.Stopped = "a ballast needs a change in package main, and the source of a released command cannot be " +
			"changed: try it in a clone"
		return nil
	}
	if c.Costs <= 0 {
		// There are no steps to take: the plan reduces memory to make the process fit.
		t.Chosen, t.Stopped = c.Point.Forecast.Setting, "the recommended setting takes less memory than today's"
		return nil
	}
	var all stats.Interval
	t.Stopped = "every step saved enough CPU; the last has twice the plan's added headroom"
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
			t.Stopped = fmt.Sprintf("%s saves %s compared with the step before, less than %s", SettingText(set),
				percent(step.Gained.Value), percent(s.o.Knee))
			return nil
		}
		all, t.Chosen = step.Saved, set
	}
	return nil
}

// part returns the setting with k times the added headroom of the recommended one. It
// returns false if there is no such setting.
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

// saved returns the share of CPU by which B's collector needs less than A's. That is
// what the setting changes, and it varies far less between runs than all CPU per
// request. If other processes keep the program from running, the collector's clock
// counts more than there was; then all CPU time is used.
func saved(r *prove.Result) stats.Interval {
	c, ok := changeOf(r, unitGC)
	if ok && math.Max(c.A.Value, c.B.Value) > 1 {
		return savedCPU(r)
	}
	if !ok {
		return stats.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	out := stats.Interval{Value: c.A.Value - c.B.Value, Low: math.Inf(-1), High: math.Inf(1)}
	// With fewer runs the median has no bounds.
	if min(c.Runs.A, c.Runs.B) >= boundedRuns {
		out.Low, out.High = c.A.Low-c.B.High, c.A.High-c.B.Low
	}
	return out
}

const boundedRuns = 6

// savedCPU returns the fraction of A's CPU time for the same work that B saves.
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

// valueOf returns the median of a metric on one side; 0 if unknown.
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

// side returns the working tree with a setting. An overlay adds a ballast as a
// variable of package main; its file sorts first, so it is allocated first.
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
