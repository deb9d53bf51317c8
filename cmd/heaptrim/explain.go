package main

import (
	"context"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/report/catalogue"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

const explainUsage = `
Usage: heaptrim explain [code]

Explains a cure that 'heaptrim check' names, such as presize-slice: how it
saves, the code before and after, when not to apply it, and which evidence it
needs. Without a code it lists all cures.

Examples:
  heaptrim explain
  heaptrim explain presize-slice
`

func runExplain(_ context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	t := terminalOf(std.out)
	o := term.Options{Width: t.Width, Color: t.Color()}
	switch fs.NArg() {
	case 0:
		return catalogue.List(std.out, cures.All(), o)
	case 1:
	default:
		return usagef("explain takes one code")
	}
	cure, ok := cures.Find(fs.Arg(0))
	if !ok {
		return unknownCode(fs.Arg(0))
	}
	return catalogue.Entry(std.out, cure, o)
}

// unknownCode is the error for a code that the catalogue does not have, with
// the one that was probably meant.
func unknownCode(code string) error {
	hint := "'heaptrim explain' lists them"
	if near := nearest(code); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return usagef("no cure has the code %q; %s", code, hint)
}

// nearest is the code of the catalogue that takes the fewest edits to reach;
// empty when that is more than a third of its letters.
func nearest(code string) string {
	best, least := "", 0
	for _, c := range cures.All() {
		n := edits(code, c.Code)
		if n <= len(c.Code)/3 && (best == "" || n < least) {
			best, least = c.Code, n
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes: insertions, deletions and
// replacements that turn a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
