package trial

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
)

// Bench is a benchmark and how long an operation takes.
type Bench struct {
	Package string // import path
	Name    string // as printed, without the suffix of GOMAXPROCS
	NsPerOp float64
}

// Counts are what an operation allocates, as package testing rounds it: down.
type Counts struct{ Allocs, Bytes float64 }

// The length of a run that counts: long enough that warm-up weighs little, in operations and in
// time.
const (
	leastOps = 20
	mostOps  = 20_000
	runFor   = 100 * time.Millisecond
)

// limit is how long a run may take that was meant to take runFor.
const limit = 2 * time.Minute

// ops is the number of operations of a run that counts. It is the same for all versions.
func (b Bench) ops() int64 {
	if b.NsPerOp <= 0 {
		return leastOps
	}
	return min(max(int64(float64(runFor)/b.NsPerOp), leastOps), mostOps)
}

// Counts runs a benchmark of a version and returns what it allocates.
func (j *Judge) Counts(ctx context.Context, b Bench, files Files) (Counts, error) {
	bin, err := j.build(ctx, b.Package, files)
	if err != nil {
		return Counts{}, err
	}
	if bin.path == "" {
		return Counts{}, fmt.Errorf("%s has no tests", b.Package)
	}
	parts := strings.Split(b.Name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	res, err := j.run(ctx, bin, limit, "-test.run=^$", "-test.benchmem", "-test.bench="+strings.Join(parts, "/"),
		fmt.Sprintf("-test.benchtime=%dx", b.ops()), "-test.timeout=0")
	if err != nil {
		return Counts{}, err
	}
	log, err := benchlog.Read(b.Package, bytes.NewReader(res.out))
	if err != nil {
		return Counts{}, err
	}
	for i := len(log.Results) - 1; i >= 0; i-- {
		if r := log.Results[i]; r.Mem && (r.Name == b.Name || r.FullName == b.Name) {
			return Counts{r.AllocsPerOp, r.BytesPerOp}, nil
		}
	}
	if res.ended != nil {
		return Counts{}, fmt.Errorf("%s: %w\n%s", b.Name, res.ended, gocmd.LastLines(strings.TrimSpace(string(res.out)), 10))
	}
	return Counts{}, fmt.Errorf("%s printed no result", b.Name)
}

// Less reports whether c allocates less than before: fewer objects or fewer bytes, and not more
// of the other. Differences below 2 % of the bytes are not counted: they are of what is allocated
// once for many operations.
func (c Counts) Less(before Counts) bool {
	const same = 0.02
	fewer, more := c.Allocs < before.Allocs, c.Allocs > before.Allocs
	smaller := c.Bytes < before.Bytes*(1-same)-1
	larger := c.Bytes > before.Bytes*(1+same)+1
	return fewer && !larger || smaller && !more
}
