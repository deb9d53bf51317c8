package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cards prints what is known of pairs, for a reader.
func (m *miner) cards(ctx context.Context, prefix string) error {
	for _, key := range slices.Sorted(maps.Keys(m.journal.entries)) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		e := m.journal.entries[key]
		if err := m.card(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// card prints one pair: its rows, the commits and how the files of the functions changed.
func (m *miner) card(ctx context.Context, e entry) error {
	fmt.Printf("==== %s %s\n", e.Key, e.License)
	for _, c := range e.Pair.Commits[:min(len(e.Pair.Commits), 12)] {
		fmt.Printf("  %.9s [%d] %.100s  %v\n", c.Hash, c.Score, c.Subject, c.Folders)
	}
	wanted := map[string]map[int]bool{} // lines of files, that allocate less
	for i, r := range e.Rows {
		fmt.Printf("-- row %d: %s %s %s: %v/%v -> %v/%v, also %d\n", i, r.Package, r.Bench, r.From, r.Before[0].B, r.Before[0].Allocs, r.After[0].B, r.After[0].Allocs, len(r.Also))
		most := r.Functions[0].Less
		for _, f := range r.Functions {
			if f.Less.B < most.B/20 && f.Less.Allocs < max(most.Allocs/20, 0.5) {
				continue
			}
			fmt.Printf("   %s %s: less %.0f B %.1f, after %.0f B %.1f\n", f.Name, f.File, f.Less.B, f.Less.Allocs, f.After.B, f.After.Allocs)
			for _, l := range f.Lines[:min(len(f.Lines), 5)] {
				fmt.Printf("      :%d %.0f B %.1f by %s < %s\n", l.Line, l.Before.B, l.Before.Allocs, l.Leaf, strings.Join(l.From[:min(len(l.From), 3)], " < "))
				if wanted[f.File] == nil {
					wanted[f.File] = map[int]bool{}
				}
				wanted[f.File][l.Line] = true
			}
		}
	}
	h := m.history(e.Pair.History)
	for _, file := range slices.Sorted(maps.Keys(wanted)) {
		if err := h.diff(ctx, e.Pair, file, wanted[file]); err != nil {
			return err
		}
	}
	return nil
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+`)

// near is how far from a line a hunk is still printed.
const near = 20

// Lines of a file's difference that are printed, and of a run of added ones.
const (
	mostDiff  = 90
	mostAdded = 14
)

// diff prints how a file changed near some lines.
func (h *history) diff(ctx context.Context, p pair, file string, lines map[int]bool) error {
	at := path.Join(p.Folder, file)
	out, err := h.ask(ctx, "diff", "-U2", "-w", p.Tags[0], p.Tags[1], "--", at)
	if err != nil {
		return err
	}
	fmt.Printf("++ %s, %d lines of difference\n", file, len(out))
	print, printed, added := false, 0, 0
	for _, line := range out {
		if m := hunk.FindStringSubmatch(line); m != nil {
			print = nearAny(m, lines)
		}
		if added++; !strings.HasPrefix(line, "+") {
			added = 0
		}
		if print && printed < mostDiff && added < mostAdded {
			fmt.Println(line)
			printed++
		}
	}
	return nil
}

// nearAny reports whether a hunk is near one of the lines.
func nearAny(header []string, lines map[int]bool) bool {
	first, _ := strconv.Atoi(header[1]) // the pattern takes digits alone
	length, _ := strconv.Atoi(header[2])
	for l := range lines {
		if l >= first-near && l <= first+length+near {
			return true
		}
	}
	return false
}
