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
)

// Prediction is what heaptrim says of a program's marked site.
type Prediction struct {
	Found    bool            `json:"found"` // a finding names the marked line
	Rank     int             `json:"rank"`
	Function string          `json:"function"`
	Saving   Interval        `json:"saving"` // share of CPU
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

// predict asks heaptrim for the saving at a site.
func predict(ctx context.Context, c *config, p program, site Site) (*Prediction, error) {
	args := []string{"check", "-json", "-", "-html", ""}
	if c.again != "" {
		args = append(args, filepath.Join(c.again, p.Name))
	} else {
		args = append(args, "-bench", "^BenchmarkWork$")
		args = append(args, strings.Fields(c.checkArgs)...)
		if c.keep != "" {
			args = append(args, "-o", filepath.Join(c.keep, p.Name))
		}
		args = append(args, "./"+p.dir())
	}
	cmd := exec.CommandContext(ctx, c.heaptrim, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == exitFindings) {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	if c.keep != "" {
		if err := os.WriteFile(filepath.Join(c.keep, p.Name+".json"), stdout.Bytes(), 0o666); err != nil {
			return nil, err
		}
	}
	return readPrediction(stdout.Bytes(), site)
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
