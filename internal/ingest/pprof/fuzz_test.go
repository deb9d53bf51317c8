package pprof

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// stricter lists what we refuse and google's reader takes; see the package
// comment.
var stricter = []string{
	"not a pprof profile", "no sample types", "invalid field number", "does not fit 64 bits", "line number",
	"more than",
}

// FuzzOpen holds that no input makes the reader panic or give an error without
// a place, and that what it accepts has the totals that google's reader finds.
func FuzzOpen(f *testing.F) {
	plain := encode(f, synthetic(12))
	f.Add(plain)
	f.Add(compress(plain))
	f.Add(compress(plain)[:100])
	f.Add(base())
	f.Add(cat(base(), msg(fieldSample, num(1, 1), num(2, 5)), msg(fieldSample, msg(1, []byte{1, 1}), msg(2, []byte{5}))))
	f.Add(cat(base(), num(fieldTime, 5), msg(fieldMapping, num(1, 5)), num(99, 7)))
	f.Add([]byte("heap profile: 1: 32 [2: 64] @ heap/1048576\n"))
	f.Add(write(f, writerHeader, writerSamples()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("nothing new beyond 64 KiB")
		}
		got, err := totals(data)
		g, gerr := profile.ParseData(data)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.File != "fuzz" || syntax.Offset < 0 {
				t.Fatalf("error %v, want a SyntaxError", err)
			}
			if gerr == nil && !isStricter(syntax.Msg) {
				t.Fatalf("refused with %v, but the oracle reads %v", err, g)
			}
			return
		}
		if gerr != nil {
			return // labels and other parts we do not look into
		}
		want := oracleTotals(g)
		if len(got) != len(want) {
			t.Fatalf("totals %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("totals %v, want %v", got, want)
			}
		}
	})
}

func isStricter(msg string) bool {
	for _, s := range stricter {
		if strings.Contains(msg, s) {
			return true
		}
	}
	return false
}

// totals sums each column; beyond the sums, it weighs the stacks in, so that
// a frame lost or doubled shows.
func totals(data []byte) ([]int64, error) {
	p, err := Bytes("fuzz", data)
	if err != nil {
		return nil, err
	}
	sums := make([]int64, len(p.Types)+1)
	err = p.Samples.Scan(func(s evidence.Sample) error {
		for i, v := range s.Values {
			sums[i] += v
		}
		for depth, l := range s.Stack {
			for _, f := range l.Frames {
				sums[len(p.Types)] += int64(depth+1) * int64(f.Line+len(f.File)+1)
			}
		}
		return nil
	})
	return sums, err
}

func oracleTotals(g *profile.Profile) []int64 {
	sums := make([]int64, len(g.SampleType)+1)
	for _, s := range oracle(g) {
		for i, v := range s.values {
			sums[i] += v
		}
		for depth, frames := range s.stack {
			for _, f := range frames {
				sums[len(g.SampleType)] += int64(depth+1) * int64(f.Line+len(f.File)+1)
			}
		}
	}
	return sums
}
