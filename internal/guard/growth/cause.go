package growth

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/escape"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/escapes"
)

// Cause is a line that makes a benchmark allocate more.
type Cause struct {
	Site    // that allocates
	At      evidence.Site
	Changed bool         // the line At differs between the versions; Site is on it, or in a function that it calls or is part of
	Kind    finding.Kind // of the allocation
	Reason  Reason
	Text    string // of the line At
	Module  string // whose code allocates, if that is another module
	Cure    *finding.Remedy
}

// Reason says why a value is on the heap.
type Reason struct {
	Text string // "" if it is not known
	New  bool   // the compiler gave no such reason in the version before
}

// explainer says why lines allocate.
type explainer struct {
	lines         lineMaps
	before, after Side
	changed       []string // files of the module that differ, relative to it
	source        map[string]*source
}

// source is a file of the version after.
type source struct {
	lines []string
	kinds *alloc.Source
	funcs [][2]int // first and last line of each function
}

// most is how many lines of a benchmark are named.
const most = 3

// Pair is two versions of a module.
type Pair struct {
	Before, After Side     // Before may be none
	Changed       []string // files that differ, relative to the module
}

// Causes names the lines behind the sites that grew, the line that was changed first. Without a
// version before, the sites are what allocates most.
func (p Pair) Causes(ctx context.Context, grown []Site) ([]Cause, error) {
	before, after := p.Before, p.After
	x := &explainer{lineMaps{map[string]lineMap{}, before.Root, after.Root}, before, after, p.Changed, map[string]*source{}}
	var out []Cause
	for _, s := range grown[:min(most, len(grown))] {
		out = append(out, x.cause(s))
	}
	if err := x.reasons(ctx, out); err != nil {
		return out, err
	}
	slices.SortStableFunc(out, func(a, b Cause) int {
		switch { // of the sites of equal growth, those that were changed come first
		case a.Changed == b.Changed || 2*a.Grown().Allocs < b.Grown().Allocs || 2*b.Grown().Allocs < a.Grown().Allocs:
			return 0
		case a.Changed:
			return -1
		}
		return 1
	})
	return out, nil
}

// cause finds the changed line on the way to a site that is nearest to it, of the functions that
// are in both versions if a changed line of theirs calls a new one.
func (x *explainer) cause(s Site) Cause {
	c := Cause{Site: s, At: s.Site}
	if filepath.IsAbs(s.File) {
		c.Module = moduleOf(s.File)
	}
	c.Kind = x.kind(s)
	for i, f := range s.Frames {
		file := collector{root: x.after.Root}.relative(f.File)
		if filepath.IsAbs(file) {
			continue
		}
		line, ok := x.changedIn(file, f.Line)
		if !ok {
			continue
		}
		isNew := x.isNew(file, f.Line)
		if c.Changed && (isNew || line != f.Line) {
			continue
		}
		if i == 0 || line != s.Line || file != s.File {
			c.At = evidence.Site{Function: f.Function, Package: stack.PackageOf(f.Function), File: file, Line: line}
		}
		c.Changed = true
		if !isNew {
			break
		}
	}
	if !c.Changed {
		x.elsewhere(&c)
	}
	c.Text = x.text(c.At.File, c.At.Line)
	return c
}

// isNew reports whether the function at a line is not in the version before. Nothing grew by it
// until a function that was there called it.
func (x *explainer) isNew(file string, line int) bool {
	changed := x.lines.of(file).changed
	for _, fn := range x.open(file).funcs {
		if line < fn[0] || line > fn[1] {
			continue
		}
		// The brace of another function may stand for its last one in the comparison.
		for n := fn[0]; n <= max(fn[0], fn[1]-1); n++ {
			if !changed[n] {
				return false
			}
		}
		return true
	}
	return false
}

// elsewhere looks for a change beside the stack: what is called there may keep a value that it was
// lent. It has to be in the package of the site, or the only one of the module.
func (x *explainer) elsewhere(c *Cause) {
	if filepath.IsAbs(c.File) {
		return
	}
	var best evidence.Site
	near := -1
	for _, file := range x.changed {
		if strings.HasSuffix(file, "_test.go") || !strings.HasSuffix(file, ".go") {
			continue
		}
		score := 0
		switch {
		case file == c.File:
			score = 2
		case filepath.Dir(file) == filepath.Dir(c.File):
			score = 1
		case len(x.changed) > 1:
			continue
		}
		if line := x.firstChange(file); line > 0 && score > near {
			best, near = evidence.Site{Package: c.Package, File: file, Line: line}, score
		}
	}
	if near >= 0 {
		c.At, c.Changed = best, true
	}
}

// firstChange is the first changed line of a file that allocates by its look, or else the first.
func (x *explainer) firstChange(file string) int {
	lines := slices.Sorted(maps.Keys(x.lines.of(file).changed))
	for _, n := range lines {
		if x.open(file).kinds.At(n) != finding.KindUnknown {
			return n
		}
	}
	if len(lines) == 0 {
		return 0
	}
	return lines[0]
}

// changedIn is the line of a function that was changed: the one that is asked for, or else the one
// that allocates by its look, or else the nearest.
func (x *explainer) changedIn(file string, line int) (int, bool) {
	changed := x.lines.of(file).changed
	if changed[line] {
		return line, true
	}
	src := x.open(file)
	for _, fn := range src.funcs {
		if line < fn[0] || line > fn[1] {
			continue
		}
		best, score := 0, 0
		for n := fn[0]; n <= fn[1]; n++ {
			if !changed[n] {
				continue
			}
			near := 1_000_000 - max(n-line, line-n)
			if src.kinds.At(n) != finding.KindUnknown {
				near += 1_000_000
			}
			if near > score {
				best, score = n, near
			}
		}
		if best > 0 {
			return best, true
		}
	}
	return 0, false
}

func (x *explainer) open(file string) *source {
	if s, ok := x.source[file]; ok {
		return s
	}
	name := file
	if !filepath.IsAbs(file) {
		name = filepath.Join(x.after.Root, file)
	}
	text, _ := os.ReadFile(name) // what cannot be read has no lines
	s := &source{lines: strings.Split(string(text), "\n"), kinds: alloc.NewSource(text)}
	set := token.NewFileSet()
	if f, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution); f != nil {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				s.funcs = append(s.funcs, [2]int{set.Position(fn.Pos()).Line, set.Position(fn.End()).Line})
			}
		}
	}
	x.source[file] = s
	return s
}

func (x *explainer) text(file string, line int) string {
	lines := x.open(file).lines
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// kind is what allocates, by the library function or the look of the line.
func (x *explainer) kind(s Site) finding.Kind {
	if k := alloc.Of(nil, s.Via, ""); k != finding.KindUnknown {
		return k
	}
	return x.open(s.File).kinds.At(s.Line)
}

// reasons asks the compiler about the packages of the causes, in both versions.
func (x *explainer) reasons(ctx context.Context, causes []Cause) error {
	var packages []string
	for _, c := range causes {
		for _, p := range []string{c.Package, c.At.Package} {
			if p != "" && p != "main" && !slices.Contains(packages, p) && !strings.HasSuffix(p, "_test") {
				packages = append(packages, p)
			}
		}
	}
	if len(packages) == 0 {
		return nil
	}
	now, err := index(ctx, x.after, packages)
	if err != nil {
		return err
	}
	was := escape.NewIndex()
	if !x.before.None() {
		// A package that is not there before has no reasons there.
		was, _ = index(ctx, x.before, packages)
	}
	for i := range causes {
		c := &causes[i]
		reason := escape.Explain(c.ownFrames(), c.Kind, now)
		if reason == nil {
			continue
		}
		c.Kind = escape.RefineKind(c.Kind, reason)
		c.Reason.Text = reason.Text
		c.Reason.New = !x.before.None() && reason.From != nil && !x.known(was, reason, c)
	}
	return nil
}

// ownFrames are those from the site on: what a library allocates there is its own matter.
func (c *Cause) ownFrames() []evidence.Frame {
	i := slices.IndexFunc(c.Frames, func(f evidence.Frame) bool { return f.Function == c.Function && f.Line == c.Line })
	return c.Frames[max(i, 0):]
}

// known reports whether the compiler gave a reason before, on the line that was in its place.
func (x *explainer) known(was *escape.Index, reason *finding.Escape, c *Cause) bool {
	m := x.lines.of(c.File)
	for before, after := range m.to {
		if after != reason.At.Line {
			continue
		}
		for _, e := range was.At(c.File, before) {
			if e.Expr == reason.From.Expr && e.Verb == reason.From.Verb {
				return true
			}
		}
	}
	return false
}

func index(ctx context.Context, s Side, packages []string) (*escape.Index, error) {
	tool := s.Counter.Tool()
	found, _, err := escapes.Run(ctx, escapes.RunOptions{Dir: s.Root, Env: append(os.Environ(), tool.Env...), Packages: packages, BuildFlags: tool.Flags})
	x := escape.NewIndex()
	for _, e := range found {
		e.File = collector{root: s.Root}.relative(e.File)
		x.Add(e)
	}
	if ctx.Err() == nil {
		err = nil // what did not compile has no reasons
	}
	return x, err
}

// moduleOf is the module, with its version, that a file in the module cache or a vendor folder is of.
func moduleOf(file string) string {
	file = filepath.ToSlash(file)
	if i := strings.LastIndex(file, "/pkg/mod/"); i >= 0 {
		path := file[i+len("/pkg/mod/"):]
		if at := strings.IndexByte(path, '@'); at >= 0 {
			if end := strings.IndexByte(path[at:], '/'); end >= 0 {
				return path[:at+end]
			}
		}
	}
	return ""
}
