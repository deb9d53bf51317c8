package fix

import (
	"maps"
	"os"
	"slices"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Patch is a change that an outside program made on top of the edits that were kept and of earlier
// patches: the content of files before and after. A file that is not in Before is new.
type Patch struct {
	By            string   // the command
	Packages      []string // import paths
	Before, After trial.Files
}

// Remedy is an attempt that was kept, with what it changes on top of those before it.
type Remedy struct {
	Attempt
	Before, After trial.Files
}

// Remedies are the attempts that were kept, in the order in which they are to be applied.
func (f *Fixes) Remedies() ([]Remedy, error) {
	now, err := originals(f.Kept())
	if err != nil {
		return nil, err
	}
	var out []Remedy
	var edits []code.Edit
	original := maps.Clone(now)
	for _, a := range f.Attempts {
		if a.Outcome != Kept || a.Patch != nil {
			continue
		}
		edits = append(edits, a.Edit)
		after, err := edited(original, edits)
		if err != nil {
			return nil, err
		}
		one := Remedy{a, trial.Files{}, trial.Files{}}
		for _, part := range a.Edit.Parts() {
			one.Before[part.File], one.After[part.File] = now[part.File], after[part.File]
			now[part.File] = after[part.File]
		}
		out = append(out, one)
	}
	for _, a := range f.Attempts {
		if a.Outcome == Kept && a.Patch != nil {
			out = append(out, Remedy{a, a.Patch.Before, a.Patch.After})
		}
	}
	return out, nil
}

// sum fills in the files of all attempts as they are, and as the kept attempts make them.
func (f *Fixes) sum() error {
	var all []code.Edit
	for _, a := range f.Attempts {
		if a.Patch == nil {
			all = append(all, a.Edit)
		}
	}
	var err error
	if f.Before, err = originals(all); err != nil {
		return err
	}
	if f.After, err = edited(f.Before, f.Kept()); err != nil {
		return err
	}
	for _, a := range f.Attempts {
		if a.Patch == nil {
			continue
		}
		for name := range a.Patch.After {
			if _, ok := f.Before[name]; ok {
				continue
			}
			if text, err := os.ReadFile(name); err == nil {
				f.Before[name] = text
			}
		}
		if a.Outcome == Kept {
			maps.Copy(f.After, a.Patch.After)
		}
	}
	return nil
}

// Difference is one file before and after an attempt.
type Difference struct {
	File     string
	Old, New []byte
}

// Diffs are the files of an attempt before and after it alone, by name.
func (f *Fixes) Diffs(a Attempt) ([]Difference, error) {
	before := f.Before
	after, err := edited(f.Before, []code.Edit{a.Edit})
	if a.Patch != nil {
		before, after, err = a.Patch.Before, a.Patch.After, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(after)) {
		out = append(out, Difference{name, before[name], after[name]})
	}
	return out, nil
}

// Covered counts the kept attempts whose changes were compared by calls or reached by fuzzing, not by the
// package's own tests alone.
func (f *Fixes) Covered() int {
	n := 0
	for _, a := range f.Attempts {
		if a.Outcome == Kept && a.Verdict.Compare.Covers() {
			n++
		}
	}
	return n
}
