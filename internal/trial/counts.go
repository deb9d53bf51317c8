package trial

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Bench is a benchmark and how long an operation takes.
type Bench struct {
	Package string // import path
	Name    string // as printed, without the suffix of GOMAXPROCS
	NsPerOp float64
}

// Counts are what an operation allocates: the means of a run.
type Counts struct {
	Allocs, Bytes float64
	Ops           int64  // of the run
	Spread        Spread // between runs of the same version, where there were several
}

// Spread is how much counts differ between runs of the same version.
type Spread struct{ Allocs, Bytes float64 }

// The length of a run that counts: long enough that warm-up weighs little, in operations and in
// time.
const (
	leastOps = 20
	mostOps  = 20_000
	runFor   = 100 * time.Millisecond
)

// limit is how long a run may take that was meant to take runFor.
const limit = 2 * time.Minute

// length is that of a run that counts, as -benchtime has it: a number of operations, the same for all versions. Where the
// time of one is not known, so that a number could be too small, it is a time.
func (b Bench) length() string {
	if b.NsPerOp <= 0 {
		return runFor.String()
	}
	return fmt.Sprintf("%dx", min(max(int64(float64(runFor)/b.NsPerOp), leastOps), mostOps))
}

// Counts runs a benchmark of a version and returns what it allocates.
func (j *Judge) Counts(ctx context.Context, b Bench, files Files) (Counts, error) {
	what := fmt.Sprintf("counts of %s %s", b.Name, b.length())
	return remember(ctx, &j.memory, question{b.Package, files.Hash(), what}, func() (Counts, bool, error) {
		c, err := j.count(ctx, b, files)
		return c, err == nil, err
	})
}

func (j *Judge) count(ctx context.Context, b Bench, files Files) (Counts, error) {
	bin, err := j.build(ctx, b.Package, files)
	if err != nil {
		return Counts{}, err
	}
	if bin.Path == "" {
		return Counts{}, fmt.Errorf("%s has no tests", b.Package)
	}
	parts := strings.Split(b.Name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	res, err := j.builder.Run(ctx, bin, version.Run{Limit: limit, Args: []string{"-test.run=^$", "-test.benchmem", "-test.bench=" + strings.Join(parts, "/"),
		"-test.benchtime=" + b.length(), "-test.timeout=0"}})
	if err != nil {
		return Counts{}, err
	}
	log, err := benchlog.Read(b.Package, bytes.NewReader(res.Out))
	if err != nil {
		return Counts{}, err
	}
	for i := len(log.Results) - 1; i >= 0; i-- {
		if r := log.Results[i]; r.Mem && (r.Name == b.Name || r.FullName == b.Name) {
			return Counts{Allocs: r.AllocsPerOp, Bytes: r.BytesPerOp, Ops: r.Iterations}, nil
		}
	}
	if c, ok := amid(res.Out); ok && res.Ended == nil {
		return c, nil
	}
	if res.Ended != nil {
		return Counts{}, fmt.Errorf("%s: %w\n%s", b.Name, res.Ended, gocmd.LastLines(strings.TrimSpace(string(res.Out)), 10))
	}
	return Counts{}, fmt.Errorf("%s printed no result", b.Name)
}

// figures are those of a benchmark, wherever they stand in a line.
var figures = regexp.MustCompile(`([0-9]+)\t *[0-9.e+]+ ns/op\t(?:[^\n]*\t)? *([0-9.]+) B/op\t *([0-9.]+) allocs/op`)

// amid are the counts of the only benchmark of a run that writes to the same output itself, so that its figures do
// not follow its name.
func amid(out []byte) (c Counts, ok bool) {
	all := figures.FindAllSubmatch(out, 2)
	if len(all) != 1 {
		return c, false
	}
	ops, err := strconv.ParseInt(string(all[0][1]), 10, 64)
	numbers := [2]float64{}
	for i := range numbers {
		if n, failed := strconv.ParseFloat(string(all[0][i+2]), 64); failed != nil {
			err = failed
		} else {
			numbers[i] = n
		}
	}
	return Counts{Bytes: numbers[0], Allocs: numbers[1], Ops: ops}, err == nil
}

// Baseline counts twice, so that what varies by itself is known.
func (j *Judge) Baseline(ctx context.Context, b Bench, files Files) (Counts, error) {
	what := fmt.Sprintf("baseline of %s %s", b.Name, b.length())
	return remember(ctx, &j.memory, question{b.Package, files.Hash(), what}, func() (Counts, bool, error) {
		c, err := j.count(ctx, b, files)
		if err != nil {
			return c, false, err
		}
		again, err := j.count(ctx, b, files)
		if err != nil {
			return c, false, err
		}
		c.Spread = Spread{math.Abs(c.Allocs - again.Allocs), math.Abs(c.Bytes - again.Bytes)}
		c.Allocs, c.Bytes = min(c.Allocs, again.Allocs), min(c.Bytes, again.Bytes) // chance only adds
		return c, true, nil
	})
}

// Again counts a version once more and returns the larger amounts: a benchmark that sets its timer back while others run
// prints a saving by chance.
func (j *Judge) Again(ctx context.Context, b Bench, files Files, first Counts) (Counts, error) {
	what := fmt.Sprintf("counts of %s %s, again", b.Name, b.length())
	again, err := remember(ctx, &j.memory, question{b.Package, files.Hash(), what}, func() (Counts, bool, error) {
		c, err := j.count(ctx, b, files)
		return c, err == nil, err
	})
	first.Allocs, first.Bytes = max(first.Allocs, again.Allocs), max(first.Bytes, again.Bytes)
	return first, err
}

// Less reports whether c allocates less than before: fewer objects or fewer bytes, and not more
// of the other. A few objects of a run, and twice what runs of the same version differ by, are
// not counted, nor are differences below 2 % of the bytes: size classes and warm-up make them, and
// threads and workers of the collector that the runtime starts when the machine is busy. An eighth of
// the smallest amount before is less however much runs differ.
func (c Counts) Less(before Counts) bool {
	const (
		same     = 0.02
		most     = 7. / 8
		fewInRun = 16
	)
	few, objects := fewInRun/float64(max(before.Ops, 1)), 2*before.Spread.Allocs
	little, bytes := max(same*before.Bytes, 1), 2*before.Spread.Bytes
	fewer, more := c.Allocs < before.Allocs-min(objects, most*before.Allocs)-few, c.Allocs > before.Allocs+objects+few
	smaller, larger := c.Bytes < before.Bytes-max(min(bytes, most*before.Bytes), little), c.Bytes > before.Bytes+max(bytes, little)
	return fewer && !larger || smaller && !more
}
