package contract

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Calls reads a coverage profile of mode count: how often each function of the contracts was
// called, by index.
func Calls(contracts []Contract, profile io.Reader) []int64 {
	calls, first := make([]int64, len(contracts)), make([]int, len(contracts))
	lines := bufio.NewScanner(profile)
	for lines.Scan() {
		at, rest, ok := strings.Cut(lines.Text(), ":")
		var from, fromCol, to, toCol, statements int
		var count int64
		if n, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &fromCol, &to, &toCol, &statements, &count); !ok || err != nil || n != 6 {
			continue
		}
		for i, c := range contracts {
			if path.Dir(at) != c.Package || path.Base(at) != path.Base(c.Place.File) || from < c.First || from > c.Last {
				continue
			}
			if first[i] == 0 || from < first[i] {
				first[i], calls[i] = from, count
			}
		}
	}
	return calls
}

// Allocated is what stacks through a function allocated.
type Allocated struct {
	Objects float64
	At      Place // the line of the function below which most was
	most    float64
}

// Add counts a sample of an allocation profile, leaf first, for each contract whose function is on
// the stack. Files are named as those of the contracts.
func Add(contracts []Contract, out []Allocated, frames []evidence.Frame, objects float64) {
	for i, c := range contracts {
		for _, f := range frames {
			if f.Line < c.First || f.Line > c.Last || f.File != c.Place.File {
				continue
			}
			out[i].Objects += objects
			if objects > out[i].most {
				out[i].most, out[i].At = objects, Place{c.Place.File, f.Line}
			}
			break
		}
	}
}

// few is the share of calls that may allocate without a promise being broken: the first call of a
// process may fill a table.
const few = 0.01

// Judge says from what was counted whether a promise holds. unproven is why the code does not
// prove it.
func (c Contract) Judge(calls int64, a Allocated, unproven string) Result {
	r := Result{Contract: c}
	mean := a.Objects / float64(max(calls, 1))
	switch {
	case calls == 0:
		r.State, r.Why = NotReached, "no test and no benchmark calls it; the code does not prove it: "+unproven
	case mean > c.Max+few:
		r.State, r.Why, r.At = Broken, fmt.Sprintf("%.3g objects a call in %d calls of tests and benchmarks", mean, calls), a.At
	default:
		r.State = Tested
	}
	return r
}
