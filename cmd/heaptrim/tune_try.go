package main

import (
	"context"
	"flag"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/tune"
)

// tryFlags are the flags of tune that run the program with other settings.
type tryFlags struct {
	try        bool
	budget     time.Duration
	toolchain  string
	experiment string
}

func (f *tryFlags) register(fs *flag.FlagSet) {
	fs.BoolVar(&f.try, "try", false, "with -exec: run the program under the load with settings step by step, then "+
		"today's against the recommended one")
	fs.DurationVar(&f.budget, "try-for", 2*time.Minute,
		"with -try: `time` for the comparison at the end; each step before it takes four runs")
	fs.StringVar(&f.toolchain, "toolchain", "", "with -try: GOTOOLCHAIN of the recommended side, such as `go1.27.4`")
	fs.StringVar(&f.experiment, "experiment", "",
		"with -try: GOEXPERIMENT of the recommended side, such as `nogreenteagc`")
}

func (f *tryFlags) validate(t *tuneFlags) error {
	switch {
	case !f.try && (f.toolchain != "" || f.experiment != ""):
		return usagef("-toolchain and -experiment need -try")
	case f.try && t.target.exec == "":
		return usagef("-try needs -exec: it runs the program")
	case f.try && t.target.load == "" && t.target.ready != "":
		return usagef("-ready needs -load with -try")
	case f.budget <= 0:
		return usagef("-try-for must be positive")
	}
	return nil
}

// trials runs the program, if that was asked for.
func (t *tuneFlags) trials(ctx context.Context, plan *tune.Plan, args []string, p *progress) (*tune.Trials, error) {
	if !t.try.try {
		return nil, nil
	}
	return tune.Try(ctx, plan, tune.TryOptions{
		Dir: t.target.dir, BuildFlags: t.target.buildFlags(), Toolchain: t.try.toolchain, Experiment: t.try.experiment,
		Command: prove.Command{Package: t.target.exec, Args: args, Ready: t.target.ready, Load: t.target.load,
			For: t.target.window},
		Budget: t.try.budget, Knee: t.knee / 100, Progress: p.Printf,
	})
}
