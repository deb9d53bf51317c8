// Package budget holds what the benchmarks of a module may allocate: the lines of the file
// heaptrim.budget, the environment that each line is of, and the comparison with a measurement.
package budget

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// FileName is the name of a module's budget file, in its root folder.
const FileName = "heaptrim.budget"

// Amount is what one operation allocates: means over a fixed number of operations, not cut off.
type Amount struct{ Allocs, Bytes float64 }

// Figure is a measured amount and how far it varies by itself.
type Figure struct {
	Amount
	Tolerance Amount
	Ops       int64 // operations of each run that was counted
}

// Subject says what a line limits: a benchmark, a function within a benchmark, or a type.
type Subject struct {
	Package string // folder relative to the module, with a leading ./, or . for the root
	Name    string // of the benchmark, without the suffix of GOMAXPROCS; or "type:" and a type's name
	Site    string // file:function whose own allocations the line limits; "" for the whole benchmark
}

// Line is one line of the file.
type Line struct {
	Subject
	Keys   Keys // where the line holds; the zero value holds everywhere
	Figure Figure
	Reason string // of a person, kept by updates
}

// File is the content of a budget file.
type File struct {
	Home  Env      // where the lines without keys were measured
	CPU   []int    // values of GOMAXPROCS that are measured; the first is that of lines without keys
	Store string   // where budgets are kept, if not in this file; "" is this file
	Rules Rules    // what benchmarks without a line, and lines without a benchmark, mean
	Lines []Line   // in the order of Sort
	Notes []string // comment lines of people, which stay at the top
}

// Sort puts lines in the order in which they are written: a line's place depends on no other line.
func (f *File) Sort() {
	slices.SortFunc(f.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Site, b.Site),
			cmp.Compare(a.Keys.String(), b.Keys.String()))
	})
}

// Find returns the line that limits a subject in an environment: of those that hold there, the one
// with the most keys.
func (f *File) Find(s Subject, e Env, cpu int) (Line, bool) {
	best, most := -1, -1
	for i, l := range f.Lines {
		if l.Subject == s && l.Keys.hold(e, cpu) && l.Keys.count() > most {
			best, most = i, l.Keys.count()
		}
	}
	if best < 0 {
		return Line{}, false
	}
	return f.Lines[best], true
}

// Reason is what a person wrote behind a line of a subject.
func (f *File) reason(s Subject, k Keys) string {
	text := ""
	for _, l := range f.Lines {
		if l.Subject == s && (l.Keys == k || text == "") && l.Reason != "" {
			text = l.Reason
		}
	}
	return text
}

// Set writes a measurement into the file. A figure that is the same as that of the line that holds
// elsewhere gets no line of its own.
func (f *File) Set(s Subject, e Env, cpu int, fig Figure) {
	k := f.keysOf(e, cpu)
	reason := f.reason(s, k)
	own := slices.IndexFunc(f.Lines, func(l Line) bool { return l.Subject == s && l.Keys == k })
	if own >= 0 {
		fig.Tolerance = larger(fig.Tolerance, f.Lines[own].Figure.Tolerance)
		f.Lines = slices.Delete(f.Lines, own, own+1)
	}
	if k != (Keys{}) {
		if general, ok := f.Find(s, e, cpu); ok && general.Figure.Covers(fig) {
			return
		}
	}
	f.Lines = append(f.Lines, Line{Subject: s, Keys: k, Figure: fig, Reason: reason})
	f.Sort()
}

// larger keeps a tolerance that a person raised.
func larger(a, b Amount) Amount {
	return Amount{math.Max(a.Allocs, b.Allocs), math.Max(a.Bytes, b.Bytes)}
}

// keysOf are the keys of lines that are measured in an environment: what differs from home.
func (f *File) keysOf(e Env, cpu int) Keys {
	var k Keys
	if e.Go != f.Home.Go {
		k.Go = e.Go
	}
	if e.OS != f.Home.OS {
		k.OS = e.OS
	}
	if e.Arch != f.Home.Arch {
		k.Arch = e.Arch
	}
	if e.Tags != f.Home.Tags {
		k.Tags = cmp.Or(e.Tags, noTags)
	}
	if len(f.CPU) > 0 && cpu != f.CPU[0] {
		k.CPU = cpu
	}
	return k
}

// Remove deletes all lines of a subject, and those of its functions, and returns the reason that
// they had.
func (f *File) Remove(s Subject) string {
	reason := f.reason(s, Keys{})
	f.Lines = slices.DeleteFunc(f.Lines, func(l Line) bool { return l.Subject == s || l.Whole() == s })
	return reason
}

// Rename moves the lines of a benchmark and of its functions to another name, with their reasons.
func (f *File) Rename(from, to Subject) {
	for i := range f.Lines {
		if l := &f.Lines[i]; l.Subject == from || l.Whole() == from {
			l.Package, l.Name = to.Package, to.Name
		}
	}
	f.Sort()
}

// Same reports whether two figures agree within what either varies by itself.
func (f Figure) Same(g Figure) bool {
	t, slack := larger(f.Tolerance, g.Tolerance), f.slack()
	t.Allocs, t.Bytes = t.Allocs+slack.Allocs, t.Bytes+slack.Bytes
	return math.Abs(f.Allocs-g.Allocs) <= t.Allocs+rounding && math.Abs(f.Bytes-g.Bytes) <= t.Bytes+rounding
}

// Covers reports whether a line with this figure says enough of another one: they agree, and what the
// other may reach is within this one.
func (f Figure) Covers(g Figure) bool {
	allocs, bytes := f.Over(Amount{g.Allocs + g.Tolerance.Allocs, g.Bytes + g.Tolerance.Bytes})
	return f.Same(g) && !allocs && !bytes
}

// rounding is below one object in the largest number of operations.
const rounding = 1e-5

// A run of a process also allocates a few objects that are not of its operations: the first
// operation fills a cache, a goroutine is the first on its processor. They weigh less the more
// operations there are, and never as much as one object of each operation.
const (
	fewObjects  = 8
	mostFew     = 0.75
	fewBytes    = 512  // without an object more; size classes are 8 bytes apart or more
	largeObject = 1024 // a thread that the runtime starts takes seven objects of 900 bytes on average
	large       = 0.05 // share of the bytes that is looked at whatever they are of
)

// slack is how much an amount may be above the budget for what is not of its operations.
func (f Figure) slack() Amount {
	ops := float64(max(f.Ops, 1))
	return Amount{math.Min(fewObjects/ops, mostFew), math.Min(fewBytes/ops, 7.9)}
}

// Over reports in which units an amount is above the budget and its tolerance.
func (f Figure) Over(a Amount) (allocs, bytes bool) {
	slack := f.slack()
	more := Amount{a.Allocs - f.Allocs - f.Tolerance.Allocs, a.Bytes - f.Bytes - f.Tolerance.Bytes}
	allocs = more.Allocs > slack.Allocs+rounding
	bytes = more.Bytes > slack.Bytes+rounding
	if objects := a.Allocs - f.Allocs; !allocs && objects > rounding && bytes {
		// The bytes are those of the few objects, unless these are large.
		bytes = more.Bytes > math.Max(large*f.Bytes, fewObjects*largeObject/float64(max(f.Ops, 1)))
	}
	if bytes && a.Allocs-f.Allocs <= rounding && math.Abs(more.Bytes-math.Round(more.Bytes)) > rounding {
		// As many objects, and no whole number of bytes: not each operation takes more.
		bytes = more.Bytes*float64(max(f.Ops, 1)) > fewBytes
	}
	return allocs, bytes
}

// Below reports whether an amount is below the budget by more than the tolerance, and not above it
// in the other unit: the budget is above a line of that amount.
func (f Figure) Below(a Amount) bool {
	overAllocs, overBytes := f.Over(a)
	lessAllocs, lessBytes := Figure{a, f.Tolerance, f.Ops}.Over(f.Amount)
	return (lessAllocs || lessBytes) && !overAllocs && !overBytes
}

// Top is the name of the benchmark function of a subject.
func (s Subject) Top() string {
	top, _, _ := strings.Cut(s.Name, "/")
	return top
}

// TypePrefix begins the Name of a line that limits the size of a type.
const TypePrefix = "type:"

// Type reports whether the subject is a type.
func (s Subject) Type() bool { return strings.HasPrefix(s.Name, TypePrefix) }

// Whole is the benchmark that a subject is a function of, or else the subject.
func (s Subject) Whole() Subject {
	s.Site = ""
	return s
}

// Sites lists the functions of a benchmark that have lines.
func (f *File) Sites(s Subject) []string {
	var out []string
	for _, l := range f.Lines {
		if l.Site != "" && l.Whole() == s.Whole() && !slices.Contains(out, l.Site) {
			out = append(out, l.Site)
		}
	}
	return out
}

// Bench reports whether the subject is a benchmark as a whole.
func (s Subject) Bench() bool { return s.Site == "" && !s.Type() }
