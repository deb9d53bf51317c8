package prescribe

import (
	"go/types"
	"math"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// The codes that the design promises; more may come.
var promised = strings.Fields(`gc-headroom pool-object pool-buffer reuse-buffer presize-slice presize-map presize-builder
	keep-on-stack unbox-interface hoist-closure avoid-conversion cache-compiled batch-arena shrink-layout intern-string
	finalizer-cost goroutine-stacks numa-bind huge-pages upgrade-go pool-misuse skip-work leave-it`)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Catalogue() {
		if seen[c.Code] {
			t.Errorf("%s is there twice", c.Code)
		}
		seen[c.Code] = true
		for what, text := range map[string]string{"title": c.Title, "why": c.Why, "before": c.Before, "after": c.After, "needs": c.Needs, "not": c.WhenNot} {
			if text == "" || strings.TrimSpace(text) != text && what != "after" {
				t.Errorf("%s: %s is %q", c.Code, what, text)
			}
		}
		switch c.Safety {
		case Safe, Review, Advice:
		default:
			t.Errorf("%s: safety %q", c.Code, c.Safety)
		}
	}
	for _, code := range promised {
		if !seen[code] {
			t.Errorf("%s is not in the catalogue", code)
		}
	}
}

// TestLibrary holds the table of library calls against the library: every
// entry that names an exported function names one that exists.
func TestLibrary(t *testing.T) {
	patterns := map[string]bool{}
	for _, e := range library {
		if _, ok := Find(e.code); !ok {
			t.Errorf("%s: code %s is not in the catalogue", e.function, e.code)
		}
		if pkg := packageOfPattern(e.function); !strings.Contains(pkg, "*") {
			patterns[pkg] = true
		}
	}
	var list []string
	for p := range patterns {
		list = append(list, p)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, list...)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, p := range loaded {
		names[p.PkgPath] = functionsOf(p.Types)
	}
	for _, e := range library {
		pkg := packageOfPattern(e.function)
		name := strings.TrimPrefix(e.function, pkg+".")
		if strings.Contains(pkg, "*") || !exportedName(name) {
			continue
		}
		found := false
		for _, n := range names[pkg] {
			found = found || matchPattern(e.function, n)
		}
		if !found {
			t.Errorf("%s names no function of %s", e.function, pkg)
		}
	}
}

func packageOfPattern(p string) string {
	slash := strings.LastIndexByte(p, '/')
	if i := strings.IndexByte(p[slash+1:], '.'); i >= 0 {
		return p[:slash+1+i]
	}
	return p
}

// exportedName reports whether every name of a function is exported, so that
// export data has it.
func exportedName(name string) bool {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("(*).", r) }) {
		if part[0] < 'A' || part[0] > 'Z' {
			return false
		}
	}
	return true
}

func functionsOf(pkg *types.Package) []string {
	var out []string
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			out = append(out, source.Spelling(o))
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			if !ok {
				continue
			}
			for m := range named.Methods() {
				out = append(out, source.Spelling(m))
			}
		}
	}
	return out
}

func TestMatchPattern(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		if got := matchPattern(pattern, name); got != want {
			t.Errorf("matchPattern(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	}
	f("strings.Split*", "strings.SplitN", true)
	f("strings.Split*", "bytes.SplitN", false)
	f("bytes.(*Buffer).*", "bytes.(*Buffer).Write", true)
	f("bytes.(*Buffer).*", "bytes.(Reader).Write", false)
	f("regexp.*Compile*", "regexp.MustCompilePOSIX", true)
	f("crypto/*.New*", "crypto/sha256.New", true)
	f("crypto/*.New*", "crypto/sha256.Sum256", false)
	f("time.After", "time.AfterFunc", false)
	f("reflect.*Of", "reflect.SliceOf", true)
}

func TestRegrowth(t *testing.T) {
	f := func(sizes []finding.SizeCount, objects, bytes float64) {
		t.Helper()
		o, b := regrowthOf(sizes).waste()
		if math.Abs(o-objects) > 1e-9 || math.Abs(b-bytes) > 1e-9 {
			t.Errorf("%v: %v of the objects and %v of the bytes are outgrown, want %v and %v", sizes, o, b, objects, bytes)
		}
	}
	// Ten slices that all go through 8, 16, 32: two of three arrays are outgrown.
	f([]finding.SizeCount{{Size: 8, Objects: 10}, {Size: 16, Objects: 10}, {Size: 32, Objects: 10}}, 2.0/3, 240.0/560)
	// Half of them stop at 16.
	f([]finding.SizeCount{{Size: 8, Objects: 10}, {Size: 16, Objects: 10}, {Size: 32, Objects: 5}}, 0.6, 1-(5*16.0+5*32)/(80+160+160))
	// One size only: nothing grows.
	f([]finding.SizeCount{{Size: 64, Objects: 100}}, 0, 0)
	f(nil, 0, 0)
}

// TestLeaveWhatOnlyLives: a row that allocates nothing while the program works
// is not told of blocks of no bytes.
func TestLeaveWhatOnlyLives(t *testing.T) {
	f := func(cost finding.Cost, want string) {
		t.Helper()
		c := &candidate{diagnosis: &finding.Diagnosis{}, Finding: &finding.Finding{Cost: cost}, Parts: []*allocated{{}}}
		if got := c.leave([]offer{{cure: batchArena}}).Remedy.Text; !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q in it", cost, got, want)
		}
	}
	f(finding.Cost{InUse: stats.Exact(3 << 20)}, "only keeps 3 MiB alive")
	f(finding.Cost{InUse: stats.Exact(3 << 20), Objects: stats.Exact(2), Bytes: stats.Exact(64)}, "of 32 B each")
}

// TestWhyNothingFits: a map whose only table comes with its first entry is told
// from one that the recording says too little of.
func TestWhyNothingFits(t *testing.T) {
	f := func(sizes []finding.SizeCount, kind finding.Kind, want string) {
		t.Helper()
		c := &candidate{Finding: &finding.Finding{Allocation: finding.Allocation{Sizes: sizes}}, Parts: []*allocated{{Mix: finding.Mix{Kind: kind}}}}
		if got := c.whyNot(); !strings.Contains(got, want) {
			t.Errorf("%s of %v: %q, want %q in it", kind, sizes, got, want)
		}
	}
	f([]finding.SizeCount{{Size: 288, Objects: 10}}, finding.KindMapGrowth, "its table once")
	f(nil, finding.KindMapGrowth, "evidence does not say")
	f([]finding.SizeCount{{Size: 288, Objects: 10}}, finding.KindNew, "evidence does not say")
}

// TestCuresOfSources: what the source shows rules a cure out, or words it.
func TestCuresOfSources(t *testing.T) {
	returned := &finding.Escape{Flow: []evidence.Flow{{Edges: []evidence.FlowEdge{{Why: "return"}}}}}
	lit := &source.Expr{Kind: source.FuncLit, Text: "func() {…}"}
	f := func(cure Cure, escape *finding.Escape, p allocated, want string) {
		t.Helper()
		c := &candidate{Finding: &finding.Finding{Escape: escape}, Parts: []*allocated{&p}}
		got, ok := cure.match(c, &p)
		if ok != (want != "") || !strings.Contains(got.Text, want) {
			t.Errorf("%s of %+v: %v, %q, want %q in it", cure.Code, p.Mix, ok, got.Text, want)
		}
	}
	f(hoistClosure, nil, allocated{Mix: finding.Mix{Kind: finding.KindClosure}, Expr: lit}, "pass what it captures")
	f(hoistClosure, returned, allocated{Mix: finding.Mix{Kind: finding.KindClosure}, Expr: lit}, "make `func() {…}` once for all that capture the same")
	f(unboxInterface, nil, allocated{Mix: finding.Mix{Kind: finding.KindVariadic}, Expr: &source.Expr{Kind: source.Call, Call: source.Invocation{Callee: "m.log"}}}, "do not box")
	f(unboxInterface, nil, allocated{Mix: finding.Mix{Kind: finding.KindVariadic}, Expr: &source.Expr{Kind: source.Call, Call: source.Invocation{Callee: "m.runes", Unboxed: true}}}, "")
	f(unboxInterface, nil, allocated{Mix: finding.Mix{Kind: finding.KindReflect, Via: "reflect.Value.Call"}}, "switch on the concrete types")
	f(unboxInterface, nil, allocated{Mix: finding.Mix{Kind: finding.KindReflect, Via: "html/template.(*Template).Execute"}}, "")
}

func TestObjectCount(t *testing.T) {
	for v, want := range map[float64]string{1: "1 object", 0.5: "0.5 objects", 2: "2 objects", 1.04: "1 object", 340.4: "340 objects"} {
		if got := objectCount(v); got != want {
			t.Errorf("objectCount(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestPickExpr: of two literals on a line, the one whose size the blocks have is meant.
func TestPickExpr(t *testing.T) {
	item := &source.Expr{Kind: source.Literal, Text: "Item{…}", Size: 96}
	list := &source.Expr{Kind: source.Literal, Text: "[]string{…}", Size: 32, Elem: 16}
	part := &allocated{Mix: finding.Mix{Kind: finding.KindNew}}
	f := func(want *source.Expr, sizes ...finding.SizeCount) {
		t.Helper()
		if got := pickExpr([]*source.Expr{item, list}, part, sizes); got != want {
			t.Errorf("of %v: %s, want %s", sizes, got.Text, want.Text)
		}
	}
	f(list, finding.SizeCount{Size: 32, Objects: 100})
	f(item, finding.SizeCount{Size: 96, Objects: 100})
	f(item, finding.SizeCount{Size: 32, Objects: 1}, finding.SizeCount{Size: 96, Objects: 100})
	f(item) // sizes are not known
}

// TestMoreHere: allocations of the line that a cure does not touch are told.
func TestMoreHere(t *testing.T) {
	c := &candidate{Parts: []*allocated{
		{Mix: finding.Mix{Objects: 0.5, Bytes: 0.5}}, {Mix: finding.Mix{Objects: 0.4, Bytes: 0.4}}, {Mix: finding.Mix{Objects: 0.02, Bytes: 0.01}},
	}}
	if n := c.notable(); n != 2 {
		t.Errorf("%d notable parts, want 2", n)
	}
	if text := (offer{cure: presizeMap, best: proposal{Text: "do"}, more: 1}).remedy().Text; text != "do (+1 more here)" {
		t.Errorf("text %q", text)
	}
	if text := (offer{cure: presizeMap, best: proposal{Text: "do"}}).remedy().Text; text != "do" {
		t.Errorf("text %q", text)
	}
}
