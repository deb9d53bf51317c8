// Package escape joins the compiler's escape decisions with recorded
// allocations, and puts the reason into words and into facts.
package escape

import (
	"path"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// EscapeIndex finds the compiler's decisions by source line. The zero value is
// empty. Reading is safe for concurrent use, Add is not.
type Index struct {
	lines    map[escapeKey][]*evidence.Escape
	answered map[string]bool // packages of which all that the compiler says of the lines asked for is here
}

// escapeKey has the base name only: a profile and the compiler may name one
// file in different ways.
type escapeKey struct {
	base string
	line int
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{} }

// Answered says that the compiler was asked about packages, and that its answer is complete.
func (x *Index) Answered(packages ...string) {
	if x.answered == nil {
		x.answered = map[string]bool{}
	}
	for _, p := range packages {
		x.answered[p] = true
	}
}

// Add puts a decision into the index. A duplicate is dropped; a decision with an explanation
// replaces one without.
func (x *Index) Add(e evidence.Escape) {
	if x.lines == nil {
		x.lines = map[escapeKey][]*evidence.Escape{}
	}
	key := escapeKey{baseName(e.File), e.Line}
	for i, have := range x.lines[key] {
		if !samePlace(have, &e) {
			continue
		}
		if len(have.Flow) == 0 && len(e.Flow) > 0 {
			x.lines[key][i] = &e
		}
		// A string that is concatenated and then boxed is two decisions on one expression,
		// distinguished by their flow.
		if len(e.Flow) == 0 || len(have.Flow) == 0 || sameFlow(have.Flow, e.Flow) {
			return
		}
	}
	x.lines[key] = append(x.lines[key], &e)
}

// At returns the decisions on a line, in the order of Add. The file matches
// when one of the two paths ends with the other, so that a path inside a
// module finds the absolute one. The result must not be changed.
func (x *Index) At(file string, line int) []*evidence.Escape {
	all := x.lines[escapeKey{baseName(file), line}]
	for i, e := range all {
		if sameFile(e.File, file) {
			continue
		}
		var some []*evidence.Escape
		some = append(some, all[:i]...)
		for _, e := range all[i+1:] {
			if sameFile(e.File, file) {
				some = append(some, e)
			}
		}
		return some
	}
	return all
}

func samePlace(a, b *evidence.Escape) bool {
	return a.File == b.File && a.Col == b.Col && a.Expr == b.Expr && a.Verb == b.Verb && (a.Func == b.Func ||
		a.Func == "" || b.Func == "")
}

func sameFlow(a, b []evidence.Flow) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Dst != b[i].Dst || a[i].Src != b[i].Src || len(a[i].Edges) != len(b[i].Edges) {
			return false
		}
	}
	return true
}

func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

func sameFile(a, b string) bool {
	a = strings.TrimPrefix(strings.ReplaceAll(a, `\`, "/"), "./")
	b = strings.TrimPrefix(strings.ReplaceAll(b, `\`, "/"), "./")
	if len(a) < len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutSuffix(a, b)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// Explain says why the value that a stack allocates is on the heap.
// Frames lead from the leaf to the site, inlined ones expanded; those of the
// runtime are skipped. It looks for the compiler's decision on the line of
// every frame that is inlined into the allocating function, and names the
// reason by the kind of allocation alone where the compiler printed nothing
// that fits. It returns nil if there is nothing to say.
func Explain(frames []evidence.Frame, kind finding.Kind, x *Index) *finding.Escape {
	own := make([]evidence.Frame, 0, len(frames))
	for _, f := range frames {
		if !stack.IsRuntime(stack.PackageOf(f.Function), f.Function) {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return nil
	}
	if p := pickEscape(own, kind, x); p.escape != nil {
		e := p.escape
		kind = refine(kind, e)
		c := causeOf(e)
		return &finding.Escape{
			Text: escapeText(kind, e, p.others), Fate: c.fate, Holder: c.holder,
			Expr: e.Expr, At: siteOf(p.at), Flow: e.Flow, From: e,
		}
	}
	text := textOfKind(kind, len(x.At(own[0].File, own[0].Line)) > 0)
	if text == "" {
		return nil
	}
	fate := finding.FateUnexplained
	if !x.answered[stack.PackageOf(own[0].Function)] {
		fate = finding.FateUnasked
	}
	return &finding.Escape{Text: text, Fate: fate, At: siteOf(own[0])}
}

// RefineKind refines a kind that the runtime's frames left open, by the compiler's output: a
// new object may be a closure or a variadic slice.
func RefineKind(kind finding.Kind, r *finding.Escape) finding.Kind {
	if r == nil || r.From == nil {
		return kind
	}
	return refine(kind, r.From)
}

func refine(kind finding.Kind, e *evidence.Escape) finding.Kind {
	have := alloc.KindOfEscape(e)
	switch {
	case kind == finding.KindMapGrowth && have == finding.KindMap:
		return finding.KindMap // a literal fills the map it made
	case kind != finding.KindUnknown && kind != finding.KindNew || have == finding.KindUnknown:
		return kind
	case kind == finding.KindNew && have == finding.KindBoxing:
		// Boxed values do not come from newobject.
		if methodValue(e) {
			return finding.KindClosure
		}
		return kind
	}
	return have
}

func siteOf(f evidence.Frame) evidence.Site {
	return evidence.Site{Function: f.Function, Package: stack.PackageOf(f.Function), File: f.File, Line: f.Line}
}

// picked is the decision behind an allocation.
type picked struct {
	escape *evidence.Escape
	others []*evidence.Escape // further decisions on the line that fit as well
	at     evidence.Frame
}

// pickEscape chooses the decision behind an allocation, leaf first. If the leaf is inlined,
// the compiler prints a decision for each copy, at the line of the call: that one is on this
// allocation. The decision at the leaf's own line is on the function's copy that is not
// inlined.
func pickEscape(frames []evidence.Frame, kind finding.Kind, x *Index) picked {
	machine := 1 // frames of the leaf's machine function
	for machine < len(frames) && frames[machine-1].Inlined {
		machine++
	}
	var p picked
	last := 0 // index of p.at
	for i, f := range frames {
		fit := fitting(f, kind, x)
		switch {
		case len(fit) == 0:
			continue
		case p.escape == nil && (i < machine || namesPackage(fit[0], frames[0], f)):
			p = picked{fit[0], fit[1:], f}
		case p.escape == nil, i >= machine && i != last+1:
			// A caller's line also has decisions on its own allocations.
			return p
		case sameExpr(fit, p.escape) != nil:
			p = picked{sameExpr(fit, p.escape), nil, f}
		case i == machine-1 && inlinedCopy(fit[0], p.escape):
			p = picked{fit[0], nil, f}
		default:
			continue
		}
		last = i
	}
	return p
}

// namesPackage reports whether an expression on a caller's line is of the
// leaf's package, not of the caller's: &errors.errorString{...} on a line that
// calls errors.New came there by inlining.
func namesPackage(e *evidence.Escape, leaf, caller evidence.Frame) bool {
	pkg := stack.PackageOf(leaf.Function)
	return pkg != stack.PackageOf(caller.Function) && strings.Contains(e.Expr, path.Base(pkg)+".")
}

func sameExpr(list []*evidence.Escape, e *evidence.Escape) *evidence.Escape {
	for _, o := range list {
		if o.Expr == e.Expr && o.Verb == e.Verb {
			return o
		}
	}
	return nil
}

// inlinedCopy reports whether two expressions can be one expression before
// and after its arguments were put in: make([]T, 0, n) and make([]T, 0, 2).
func inlinedCopy(a, b *evidence.Escape) bool {
	cut := func(s string) string {
		if i := strings.LastIndexAny(s, "({"); i >= 0 {
			return s[:i]
		}
		return ""
	}
	return cut(a.Expr) != "" && cut(a.Expr) == cut(b.Expr)
}

// fitting returns the decisions on a frame's line that fit the kind, those
// that the compiler places in the frame's own function first.
func fitting(f evidence.Frame, kind finding.Kind, x *Index) []*evidence.Escape {
	var own, other []*evidence.Escape
	name := functionName(f.Function)
	for _, e := range x.At(f.File, f.Line) {
		switch {
		case !fits(kind, e):
		case e.Func != "" && withoutTypes(e.Func) == name:
			own = append(own, e)
		default:
			other = append(other, e)
		}
	}
	if len(own) > 0 {
		return own
	}
	return other
}

// functionName takes the package and the type arguments off a function's
// name: pprof's spelling then compares with the compiler's, which has no
// package.
func functionName(function string) string {
	return withoutTypes(strings.TrimPrefix(function, packageEscaped(function)+"."))
}

// withoutTypes takes the type arguments off a name.
func withoutTypes(name string) string {
	for {
		open := strings.IndexByte(name, '[')
		if open < 0 {
			return name
		}
		name = name[:open] + name[stack.Closing(name, open):]
	}
}

// packageEscaped is the package part of a function as it is spelled.
func packageEscaped(function string) string {
	cut := function
	if i := strings.IndexAny(cut, "[("); i >= 0 {
		cut = cut[:i]
	}
	slash := strings.LastIndexByte(cut, '/')
	dot := strings.IndexByte(cut[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return cut[:slash+1+dot]
}

// fits reports whether a decision can be the one behind an allocation of the
// kind.
func fits(kind finding.Kind, e *evidence.Escape) bool {
	if alloc.IsConstant(e.Expr) && e.Verb == evidence.EscapesToHeap {
		return false
	}
	switch kind {
	case finding.KindUnknown:
		return true
	case finding.KindMapGrowth:
		return alloc.KindOfExpr(e.Expr) == finding.KindMap && strings.HasSuffix(e.Expr, "}")
	case finding.KindGoroutine, finding.KindReflect, finding.KindString:
		return false // made by the runtime or a library: the compiler has no decision
	}
	have := alloc.KindOfEscape(e)
	switch {
	case have == kind:
		return true
	case kind == finding.KindNew:
		// All of them call newobject; values whose text alone is ambiguous are boxed through
		// other functions.
		return have == finding.KindClosure || have == finding.KindVariadic || methodValue(e)
	case kind == finding.KindBoxing:
		// The value that is boxed may be any expression, made on the spot.
		return interfaceConverted(e) || have == finding.KindConcat || strings.HasSuffix(e.Expr, "}") && e.Expr[0] != '&'
	case kind == finding.KindMake:
		return strings.HasPrefix(e.Expr, "make(") && have == finding.KindUnknown
	case kind == finding.KindConversion:
		return have == finding.KindBoxing && strings.HasSuffix(e.Expr, ")") && !interfaceConverted(e) // of a named type
	case kind == finding.KindClosure:
		return methodValue(e)
	}
	return false
}

// interfaceConverted reports whether the flow puts the value into an
// interface by name.
func interfaceConverted(e *evidence.Escape) bool {
	for _, f := range e.Flow {
		for _, edge := range f.Edges {
			if edge.Why == "interface-converted" {
				return true
			}
		}
	}
	return false
}

// methodValue reports whether the text can be x.Method used as a value.
func methodValue(e *evidence.Escape) bool {
	i := strings.LastIndexByte(e.Expr, '.')
	return i > 0 && e.Verb == evidence.EscapesToHeap && !strings.ContainsAny(e.Expr[i:], "(){}[] ")
}
