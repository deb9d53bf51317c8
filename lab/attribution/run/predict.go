package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Prediction is what heaptrim says of a program's marked site.
type Prediction struct {
	Found    bool            `json:"found"` // a finding names the marked line
	Rank     int             `json:"rank"`
	Function string          `json:"function"`
	Saving   Interval        `json:"saving"` // share of CPU
	Each     []float64       `json:"each"`   // by the single recordings
	Cost     json.RawMessage `json:"cost"`
	Lifetime json.RawMessage `json:"lifetime"`
	Near     []string        `json:"near,omitempty"` // where it was not found: the findings in its file
	Warnings []string        `json:"warnings,omitempty"`
}

// report is the part of heaptrim.report/1 that is judged.
type report struct {
	Schema   string `json:"schema"`
	Findings []struct {
		Rank int `json:"rank"`
		Site struct {
			Function string `json:"function"`
			File     string `json:"file"`
			Line     int    `json:"line"`
		} `json:"site"`
		Cost     json.RawMessage `json:"cost"`
		Lifetime json.RawMessage `json:"lifetime"`
		// The programs differ by the site, whatever cure heaptrim names for it.
		Removal struct {
			CPU Interval `json:"cpu_share"`
		} `json:"removal"`
	} `json:"findings"`
	Warnings []string `json:"warnings"`
}

// exitFindings is the exit code by which heaptrim says that it found
// something.
const exitFindings = 3

// judgement gathers what heaptrim says of a program, from recordings made in
// between the rounds that measure it: the machine that both see is the same one.
type judgement struct {
	*config
	program program
	site    Site
	found   []*Prediction
}

func (j *judgement) afterRound(ctx context.Context, rounds int) error {
	if j.heaptrim == "" || j.again != "" || rounds%j.every != 0 {
		return nil
	}
	return j.predict(ctx, fmt.Sprintf("%s.%d", j.program.Name, rounds/j.every))
}

// prediction is the median over the recordings, of the value and of either end
// of its interval.
func (j *judgement) prediction(ctx context.Context) (*Prediction, error) {
	if j.again != "" {
		kept, err := filepath.Glob(filepath.Join(j.again, j.program.Name+".*"))
		if err != nil {
			return nil, err
		}
		for _, name := range kept {
			if strings.HasSuffix(name, ".json") {
				continue
			}
			if err := j.predict(ctx, filepath.Base(name)); err != nil {
				return nil, err
			}
		}
	}
	if len(j.found) == 0 {
		return nil, errors.New("no recording: -every is more than -rounds, or -again has none")
	}
	return combine(j.found), nil
}

// combine makes one prediction of those of several recordings. The site counts
// as found where most of them found it.
func combine(all []*Prediction) *Prediction {
	var found []*Prediction
	var values, lows, highs []float64
	for _, p := range all {
		if p.Found {
			found = append(found, p)
			values, lows, highs = append(values, p.Saving.Value), append(lows, p.Saving.Low), append(highs, p.Saving.High)
		}
	}
	if 2*len(found) <= len(all) {
		return &Prediction{Near: all[0].Near, Warnings: all[0].Warnings}
	}
	out := *found[0]
	out.Saving = Interval{median(values), median(lows), median(highs)}
	out.Each = values
	return &out
}

// predict asks heaptrim for the saving at the site by a recording of the given
// name.
func (j *judgement) predict(ctx context.Context, name string) error {
	args := []string{"check", "-json", "-", "-html", ""}
	if j.again != "" {
		args = append(args, filepath.Join(j.again, name))
	} else {
		if j.serve {
			args = append(args, "-trace", "0s", "-exec", servePackage, "-ready", "http://"+serveAddress+"/totals", "-load", strings.Join(j.config.load(15*time.Second), " "))
		} else {
			args = append(args, "-bench", "^BenchmarkWork$")
		}
		args = append(args, strings.Fields(j.checkArgs)...)
		if j.keep != "" {
			args = append(args, "-o", filepath.Join(j.keep, name))
		}
		if j.serve {
			args = append(args, "--", "-addr", serveAddress, j.program.Name)
		} else {
			args = append(args, "./"+j.program.dir())
		}
	}
	cmd := exec.CommandContext(ctx, j.config.heaptrim, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == exitFindings) {
		return fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	if j.keep != "" {
		if err := os.WriteFile(filepath.Join(j.keep, name+".json"), stdout.Bytes(), 0o666); err != nil {
			return err
		}
	}
	p, err := readPrediction(stdout.Bytes(), j.site)
	if err != nil {
		return err
	}
	j.found = append(j.found, p)
	return nil
}

func readPrediction(b []byte, site Site) (*Prediction, error) {
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("report of heaptrim: %w", err)
	}
	if r.Schema != "heaptrim.report/1" {
		return nil, fmt.Errorf("report of heaptrim: schema %q, want heaptrim.report/1", r.Schema)
	}
	p := &Prediction{Warnings: r.Warnings}
	for _, f := range r.Findings {
		if !strings.HasSuffix("/"+filepath.ToSlash(f.Site.File), "/"+site.File) {
			continue
		}
		if f.Site.Line == site.Line {
			p.Found, p.Near = true, nil
			p.Rank, p.Function, p.Saving = f.Rank, f.Site.Function, f.Removal.CPU
			p.Cost, p.Lifetime = f.Cost, f.Lifetime
			return p, nil
		}
		p.Near = append(p.Near, fmt.Sprintf("%d: line %d, %s", f.Rank, f.Site.Line, f.Site.Function))
	}
	return p, nil
}
