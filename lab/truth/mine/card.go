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
		r.print(e.Pair.Module, wanted)
	}
	h := m.history(e.Pair.History)
	for _, file := range slices.Sorted(maps.Keys(wanted)) {
		if err := h.diff(ctx, e.Pair, file, wanted[file]); err != nil {
			return err
		}
	}
	return nil
}

// print prints the functions of a row that matter, and enters their lines.
func (r row) print(module string, wanted map[string]map[int]bool) {
	short := strings.NewReplacer(module+"/", "", module, "")
	fell := r.Before[0].B - r.After[0].B + 32*(r.Before[0].Allocs-r.After[0].Allocs)
	for _, f := range r.Functions[:min(len(r.Functions), 5)] {
		if f.Less.B+32*f.Less.Allocs < fell/10 {
			continue
		}
		fmt.Printf("   %s %s: less %.0f B %.1f, after %.0f B %.1f\n", short.Replace(f.Name), f.File, f.Less.B, f.Less.Allocs, f.After.B, f.After.Allocs)
		sum := f.total()
		for _, l := range f.Lines[:min(len(f.Lines), 4)] {
			if l.Before.B < sum.B/20 && l.Before.Allocs < sum.Allocs/20 {
				continue
			}
			fmt.Printf("      :%d %.0f B %.1f by %s < %s\n", l.Line, l.Before.B, l.Before.Allocs, short.Replace(l.Leaf), strings.Join(l.From[:min(len(l.From), 2)], " < "))
			if wanted[f.File] == nil {
				wanted[f.File] = map[int]bool{}
			}
			wanted[f.File][l.Line] = true
		}
	}
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+`)

// near is how far from a line a hunk is still printed.
const near = 8

// Lines of a file's difference that are printed, and of a run of added ones.
const (
	mostDiff  = 55
	mostAdded = 10
)

// diff prints how a file changed near some lines.
func (h *history) diff(ctx context.Context, p pair, file string, lines map[int]bool) error {
	at := path.Join(p.Folder, file)
	out, err := h.ask(ctx, "diff", "-U1", "-w", p.Tags[0], p.Tags[1], "--", at)
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
		comment := strings.HasPrefix(strings.TrimLeft(line, "+- \t"), "//")
		if print && printed < mostDiff && added < mostAdded && !comment {
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
