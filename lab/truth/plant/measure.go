package main

import (
	"bufio"
	"bytes"
	"context"
	"regexp"
	"strconv"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// target is a package with benchmarks.
type target struct {
	source.Package
	only bool           // is measured, and not planted in
	all  map[string]int // cases of each mutator, when the command began
}

// limits of a run of a package's tests or benchmarks.
const (
	benchLimit = 20 * time.Second
	testLimit  = 60 * time.Second
)

// amounts are what benchmarks allocate in an operation, by name.
type amounts map[string]corpus.Amounts

var benchLine = regexp.MustCompile(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s.*?([0-9.]+) B/op\s+(\d+) allocs/op`)

// bench runs benchmarks of a test binary.
func (t *target) bench(ctx context.Context, bin, names string, more ...string) (amounts, error) {
	out, err := source.Command(ctx, benchLimit, t.Folder, append([]string{bin, "-test.run=^$", "-test.benchmem",
		"-test.benchtime=100x", "-test.bench=" + names}, more...)...)
	if err != nil {
		return nil, err
	}
	got := amounts{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := benchLine.FindStringSubmatch(s.Text()); m != nil {
			b, _ := strconv.ParseFloat(m[2], 64)
			n, _ := strconv.ParseFloat(m[3], 64)
			got[m[1]] = corpus.Amounts{B: b, Allocs: n}
		}
	}
	return got, nil
}
