package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/report/tuning"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const tuneUsage = `
Usage: heaptrim tune [flags] bundle or files...
       heaptrim tune [flags] [packages]
       heaptrim tune [flags] -exec package [-ready URL] [-load command] [-- args]
       heaptrim tune [flags] http://host:port

Recommends a setting of the collector. From one recording, of any kind that check
makes, it forecasts GOGC from 25 to 1600, memory limits and ballasts. A forecast
has collections per second, CPU time of the collector, of assists and of idle
marking, the largest heap and the resident set, each with an interval. tune
draws CPU time against memory and recommends the setting at the knee of that
curve. The memory available is -max-memory, or the limit of the container, which
tune finds by itself; -container requires one. If a memory limit is too near to
the live heap, tune prints "limiter territory" in place of figures.

A second recording of the same program under another GOGC (-with) shows how the
cost of a collection depends on the size of the heap. It also shows how much the
program allocates during a collection when it need not assist; that memory
counts as live afterwards. tune asks for such a recording, and says under which
GOGC, if the collector takes 5 % of CPU or more and there are enough
collections. A setting whose bounds are too far apart has "not known from this
recording" in place of figures.

With -exec and -try it then runs the program under the load with one setting
after the other, stops at the measured knee, and compares today's setting with
the recommended one in turns.

Examples:
  heaptrim tune gateway.tar.zst
  heaptrim tune -max-memory 4GiB -burst 1.5 gateway.tar.zst
  heaptrim tune -with gogc400.tar.zst -json tune.json gateway.tar.zst
  heaptrim tune -settings 'gogc=250 gogc=off,limit=1GiB' gctrace.log
  heaptrim tune -bench 'Order' ./examples/gateway
  heaptrim tune -exec ./cmd/words -try -try-for 2s -json tried.json -- -rounds 300
`

// tuneFlags are the flags of tune beyond those of the target.
type tuneFlags struct {
	target    targetFlags
	memory    string
	container bool
	burst     float64
	settings  string
	only      bool
	knee      float64
	with      string
	run       string
	json      string
	try       tryFlags
}

func (f *tuneFlags) register(fs *flag.FlagSet) {
	f.target.register(fs)
	fs.StringVar(&f.memory, "max-memory", "", "`size` that the process may have in memory, such as 4GiB")
	fs.BoolVar(&f.container, "container", false, "take the memory limit of this container, and fail if there is none")
	fs.Float64Var(&f.burst, "burst", 1, "by what `factor` the live heap may grow beyond the recorded one")
	fs.StringVar(&f.settings, "settings", "",
		"forecast these `settings` too: gogc=PERCENT|off, limit=SIZE, ballast=SIZE joined by commas; several are "+
			"separated by spaces")
	fs.BoolVar(&f.only, "only", false, "forecast only today's setting and those of -settings")
	fs.Float64Var(&f.knee, "knee", 1, "least `percent` of CPU that one more doubling of the headroom must save")
	fs.StringVar(&f.with, "with", "", "a second `bundle` of the same program under another GOGC")
	fs.StringVar(&f.run, "run", "", "of a bundle with several runs, take the one of this `name`; default: the one "+
		"whose log covers most CPU time")
	fs.StringVar(&f.json, "json", "", "write the plan as JSON to `file`; - is standard output, instead of text")
	f.try.register(fs)
}

func runTune(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f tuneFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	f.target.collector = true
	o, err := f.options()
	if err != nil {
		return err
	}
	p := newProgress(std.err)
	defer p.Close()
	r, err := f.target.record(ctx, fs.Args(), p)
	if err != nil {
		return err
	}
	defer r.Close()
	if errors.Is(r.cut, context.Canceled) {
		ctx = context.WithoutCancel(ctx)
	}
	p.Printf("forecasting")
	plan, err := f.plan(ctx, r, o)
	if err != nil {
		return err
	}
	trials, err := f.trials(ctx, plan, fs.Args(), p)
	if err != nil {
		return err
	}
	p.Close()
	return f.output(plan, trials, r.Manifest.Created, std)
}

// options checks the flags that do not name the target.
func (f *tuneFlags) options() (tune.Options, error) {
	o := tune.Options{Only: f.only, Knee: f.knee / 100}
	var err error
	if o.Settings, err = parseSettings(f.settings); err != nil {
		return o, usagef("-settings: %v", err)
	}
	switch {
	case f.memory != "" && f.container:
		return o, usagef("-max-memory and -container contradict each other")
	case !(f.burst >= 1 && f.burst <= 100):
		return o, usagef("-burst %v: want a factor from 1 to 100", f.burst)
	case !(f.knee > 0 && f.knee < 100):
		return o, usagef("-knee must be above 0 and below 100 percent")
	case f.only && f.settings == "":
		return o, usagef("-only needs -settings")
	}
	if f.memory != "" {
		size, err := unit.ParseBytes(f.memory)
		if err != nil || size == 0 {
			return o, usagef("-max-memory %s: want a size above zero such as 4GiB", f.memory)
		}
		o.Constraint = tune.Constraint{Max: size, Source: "-max-memory"}
	}
	o.Constraint.Burst = f.burst
	return o, f.try.validate(f)
}

func parseSettings(text string) ([]gcmodel.Setting, error) {
	var out []gcmodel.Setting
	for _, one := range strings.Fields(text) {
		s, err := tune.ParseSetting(one)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// diagnosed is the diagnosis of a recording; nil if it has nothing to diagnose.
func diagnosed(ctx context.Context, b *bundle.Bundle) *finding.Diagnosis {
	s, err := diagnose.Open(ctx, b, diagnose.Options{NoLines: true})
	if err != nil {
		return nil
	}
	return s.Diagnosis()
}

// plan reads the recording and makes the plan for one of its runs.
func (f *tuneFlags) plan(ctx context.Context, r *recorded, o tune.Options) (*tune.Plan, error) {
	if err := f.constrain(&o.Constraint, r); err != nil {
		return nil, err
	}
	d := diagnosed(ctx, r.Bundle) // what CPU samples show, and all that a live service has
	w, notes, err := tune.Pick(r.Bundle, d, f.run)
	if err != nil {
		return nil, err
	}
	if w.Sampled.Value > 0 {
		notes = append(notes, d.Warnings...) // of damaged profiles
	}
	if f.with != "" {
		b, err := bundle.Open(f.target.path(f.with))
		if err != nil {
			return nil, err
		}
		defer b.Close()
		second, _, err := tune.Pick(b, diagnosed(ctx, b), w.Name)
		if err != nil {
			return nil, fmt.Errorf("-with %s: %w", f.with, err)
		}
		o.Second = &second
	}
	plan, err := tune.Make(w, o)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, notes...)
	return plan, nil
}

// constrain finds the memory that there is where the user has not said it.
func (f *tuneFlags) constrain(c *tune.Constraint, r *recorded) error {
	if c.Max > 0 {
		return nil
	}
	burst := c.Burst
	here, err := tune.Container(os.DirFS("/"), "self")
	switch {
	case err == nil && (f.container || r.Manifest.Environment.CgroupLimit == int64(here.Max)):
		*c = here
	case f.container:
		return fmt.Errorf("-container: %w", err)
	default:
		*c = tune.Limit(r.Manifest.Environment)
	}
	c.Burst = burst
	return nil
}

func (f *tuneFlags) output(plan *tune.Plan, trials *tune.Trials, created time.Time, std stdio) error {
	write := func(w io.Writer) error {
		return tuning.JSON(w, plan, trials, schema.Meta{Tool: version(), Created: created})
	}
	if text, err := writeAll([]output{{f.json, write}}, std); err != nil || !text {
		return err
	}
	width := terminalOf(std.out).Width
	if err := tuning.Text(std.out, plan, width); err != nil {
		return err
	}
	if trials == nil {
		return nil
	}
	return tuning.Trials(std.out, trials, width)
}
