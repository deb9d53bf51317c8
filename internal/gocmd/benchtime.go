package gocmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// BenchTime is how long a benchmark runs, as go test's -benchtime gives it: for a time, or so many operations. The zero
// value leaves it open. A pointer to it is a flag.Value.
type BenchTime struct {
	Time time.Duration
	Ops  int64
}

// Given reports whether it is not left open.
func (b BenchTime) Given() bool { return b != BenchTime{} }

// Of is how long operations of nsPerOp nanoseconds each run.
func (b BenchTime) Of(nsPerOp float64) time.Duration {
	if b.Ops > 0 {
		return time.Duration(float64(b.Ops) * nsPerOp)
	}
	return b.Time
}

// Set reads a flag such as 300ms or 2000x; 0 leaves it open.
func (b *BenchTime) Set(s string) error {
	wrong := errors.New("want a time such as 300ms, or a number of operations such as 2000x")
	if n, ok := strings.CutSuffix(s, "x"); ok {
		ops, err := strconv.ParseInt(n, 10, 32)
		if err != nil || ops <= 0 {
			return wrong
		}
		*b = BenchTime{Ops: ops}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return wrong
	}
	*b = BenchTime{Time: d}
	return nil
}

// String is the flag's text; "" where it is left open.
func (b BenchTime) String() string {
	switch {
	case b.Ops > 0:
		return fmt.Sprintf("%dx", b.Ops)
	case b.Time > 0:
		return b.Time.String()
	}
	return ""
}
