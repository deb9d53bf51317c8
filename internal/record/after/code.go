// Package after adds to a recording what is measured after its runs: the machine code
// of functions with samples, and the costs of page faults and cache misses on this
// machine.
package after

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// keptFunctions is the most functions whose machine code a recording keeps. Most
// programs have samples in fewer functions.
const keptFunctions = 2000

// maxPattern bounds the pattern of function names: a command line on Windows has at
// most 32 767 characters.
const maxPattern = 30_000

// Disassemble returns the output of go tool objdump for the given functions of a
// binary, named as in profiles. Functions that the binary does not have are skipped.
// The go command must be installed.
func Disassemble(ctx context.Context, binary string, functions []string) ([]byte, error) {
	var out, patterns []byte
	flush := func() error {
		if len(patterns) == 0 {
			return nil
		}
		text, err := disassembled(ctx, binary, string(patterns))
		out, patterns = append(out, text...), patterns[:0]
		return err
	}
	for _, f := range functions {
		// Profiles omit the type arguments of generic functions.
		p := strings.ReplaceAll(regexp.QuoteMeta(f), `\[\.\.\.\]`, `\[.*\]`)
		if len(p) > maxPattern {
			continue // no compiler generates such a name
		}
		if len(patterns)+len(p) > maxPattern {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		if len(patterns) > 0 {
			patterns = append(patterns, '|')
		}
		patterns = append(patterns, p...)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return out, nil
}

// disassembled returns the code of the functions whose whole name matches pattern.
func disassembled(ctx context.Context, binary, pattern string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "objdump", "-s", "^("+pattern+")$", binary)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("disassemble %s: %w: %s", binary, err, firstSaid(said.String()))
	}
	return out.Bytes(), nil
}

func firstSaid(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Code adds the machine code of functions with samples to a recording, because the
// binaries are deleted afterwards. binary returns the binary of a run, or "" if
// unknown. If a binary cannot be read, that is noted in the manifest; the recording is
// valid without it.
func Code(ctx context.Context, w *bundle.Writer, binary func(evidence.Run) string) error {
	var runs []evidence.Run
	if err := w.Update(func(m *evidence.Manifest) { runs = slices.Clone(m.Runs) }); err != nil {
		return err
	}
	hot := map[string]map[string]float64{}
	first := map[string]int{}
	for i, run := range runs {
		b := binary(run)
		if b == "" {
			continue
		}
		if hot[b] == nil {
			hot[b], first[b] = map[string]float64{}, i
		}
		if err := addHot(hot[b], w.Dir(), run); err != nil {
			return err
		}
	}
	for i, b := range slices.SortedFunc(maps.Keys(first),
		func(a, b string) int { return cmp.Compare(first[a], first[b]) }) {
		text, err := Disassemble(ctx, b, hottest(hot[b], keptFunctions))
		if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := w.Update(func(m *evidence.Manifest) {
				m.LeftOut = append(m.LeftOut, fmt.Sprintf("the machine code of the functions with samples: %v", err))
			}); err != nil {
				return err
			}
			continue
		}
		if len(text) == 0 {
			continue
		}
		part := evidence.Part{Path: fmt.Sprintf("code/objdump-%d.txt", i), Kind: evidence.KindCode,
			Pass: evidence.PassCode}
		if err := w.Add(first[b], part, func(out io.Writer) error {
			_,
				err := out.Write(text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// addHot adds each function's share of each kind of sample in a run: all of its own
// samples, and part of those of its callees, because the code of a function that only
// calls others is also of interest.
func addHot(hot map[string]float64, dir string, run evidence.Run) error {
	names := [...]string{"cpu", "alloc_space", "inuse_space"}
	var sums [len(names)]hotSum
	for _, part := range run.Parts {
		if part.Kind != evidence.KindCPU && part.Kind != evidence.KindHeap && part.Kind != evidence.KindAllocs {
			continue
		}
		p, err := pprof.Open(filepath.Join(dir, filepath.FromSlash(part.Path)))
		if err != nil {
			return err
		}
		var cols [len(names)]int
		for i, name := range names {
			cols[i] = p.Column(name)
		}
		err = p.Samples.Scan(func(s evidence.Sample) error {
			for i, col := range cols {
				if col >= 0 {
					sums[i].add(s.Stack, float64(s.Values[col]))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, sum := range sums {
		for name, v := range sum.own {
			hot[name] += v / max(sum.all, 1)
		}
	}
	return nil
}

// hotSum sums one kind of sample by function.
type hotSum struct {
	all float64
	own map[string]float64
}

func (h *hotSum) add(stack []*evidence.Location, v float64) {
	const callers = 0.2
	if h.own == nil {
		h.own = map[string]float64{}
	}
	h.all += v
	for i, l := range stack {
		name := l.Frames[len(l.Frames)-1].Function
		if i == 0 {
			h.own[name] += (1 - callers) * v
		}
		h.own[name] += callers * v
	}
}

// hottest returns the n names with the largest weights.
func hottest(weights map[string]float64, n int) []string {
	names := slices.Sorted(maps.Keys(weights))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(weights[b], weights[a]) })
	return names[:min(n, len(names))]
}
