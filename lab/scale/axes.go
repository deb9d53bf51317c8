//go:build unix

package main

import (
	"fmt"
	"io"
	"os/exec"

	"github.com/heaptrim/heaptrim/lab/scale/gen"
)

// axis is a size of an input that a command's time could depend on.
type axis struct {
	name  string
	input string // axes with the same input name share files
	sizes []int
	make  func(path string, size int) error
	args  []string // of heaptrim, before the input
	pprof bool     // go tool pprof reads the same file
}

// functions is what the program of a profile has where that is not the axis.
const functions = 5000

var samples = []int{20_000, 200_000, 1_600_000}

func (b *bench) axes() []axis {
	check := []string{"check"}
	return []axis{
		{"check: CPU samples", "cpu", samples, cpu, check, true},
		{"check: heap stacks", "allocs", samples, allocs, check, true},
		{"check: sites", "sites", []int{500, 5000, 50_000}, sites, check, true},
		{"check: benchmarks", "benchmarks", []int{10, 100, 1000}, benchmarks, check, false},
		{"check: cycles", "gctrace", cycles, gctrace, check, false},
		{"gctrace: cycles", "gctrace", cycles, gctrace, []string{"gctrace"}, false},
		{"tune: cycles", "gctrace", cycles, gctrace, []string{"tune"}, false},
		{"perf: samples", "perf", []int{2000, 20_000, 200_000}, perf, []string{"perf"}, false},
		{"check: packages read", "packages", []int{3, 30, 300}, b.packages, []string{"check", "-verify", "0s"}, false},
	}
}

var cycles = []int{10_000, 100_000, 1_000_000}

func cpu(path string, n int) error {
	p := gen.Program{Functions: functions}
	return gen.WriteFile(path, func(w io.Writer) error { return p.CPU(w, n) })
}

func allocs(path string, n int) error {
	p := gen.Program{Functions: functions}
	return gen.WriteFile(path, func(w io.Writer) error { return p.Allocs(w, n) })
}

// sites has as many samples at each size, of more and more functions.
func sites(path string, n int) error {
	p := gen.Program{Functions: n}
	return gen.WriteFile(path, func(w io.Writer) error { return p.Allocs(w, 200_000) })
}

func benchmarks(path string, n int) error {
	p := gen.Program{Functions: 300}
	return p.Benchmarks(path, n)
}

func gctrace(path string, n int) error {
	return gen.WriteFile(path, func(w io.Writer) error { return gen.GCTrace(w, n) })
}

// packages has as many packages whose lines allocate, recorded by heaptrim.
func (b *bench) packages(path string, n int) error {
	dir := path + ".module"
	if err := gen.Module(dir, n); err != nil {
		return err
	}
	cmd := exec.Command(b.heaptrim, "record", "-benchtime", "2000x", "-o", path, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("record: %w: %s", err, out)
	}
	return nil
}

func perf(path string, n int) error {
	p := gen.Program{Functions: functions}
	return gen.WriteFile(path, func(w io.Writer) error { return p.Perf(w, n) })
}
