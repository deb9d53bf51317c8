package corpus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Planted is a waste that was put into a release: the case before is the release with the
// edits, the case after the release as it is.
type Planted struct {
	Mutator string `json:"mutator"`
	Apart   bool   `json:"apart,omitempty"` // written without a look at what names and applies cures
	Edits   []Edit `json:"edits"`
}

// Edit puts a text in the place of the bytes from Start up to End.
type Edit struct {
	File  string `json:"file"` // relative to the module
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// At reports whether a line of a file in the module's folder dir, which has the planted text, is one that the planting wrote.
func (p *Planted) At(dir, file string, line int) bool {
	shift := map[string]int{}
	for _, e := range slices.SortedStableFunc(slices.Values(p.Edits), func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) }) {
		start := e.Start + shift[e.File]
		shift[e.File] += len(e.Text) - (e.End - e.Start)
		if filepath.ToSlash(file) != e.File {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || start+len(e.Text) > len(text) {
			continue
		}
		first := 1 + bytes.Count(text[:start], []byte("\n"))
		if first <= line && line <= first+strings.Count(strings.TrimSpace(e.Text), "\n") {
			return true
		}
	}
	return false
}

// Apply makes the edits of one file in its text. They must not overlap.
func Apply(text []byte, edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return nil, fmt.Errorf("edit of %s at %d to %d overlaps or lies outside", e.File, e.Start, e.End)
		}
		out = append(append(out, text[at:e.Start]...), e.Text...)
		at = e.End
	}
	return append(out, text[at:]...), nil
}

// Changed are the files of a copy of the module with the edits, by their absolute names.
func (p *Planted) Changed(dir string) (map[string][]byte, error) {
	of := map[string][]Edit{}
	for _, e := range p.Edits {
		of[e.File] = append(of[e.File], e)
	}
	out := map[string][]byte{}
	for name, edits := range of {
		at := filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		if out[at], err = Apply(text, edits); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Plant makes the edits in a copy of the module.
func (p *Planted) Plant(dir string) error {
	files, err := p.Changed(dir)
	for at, text := range files {
		err = errors.Join(err, os.WriteFile(at, text, 0o644))
	}
	return err
}
