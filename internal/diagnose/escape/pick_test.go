package escape

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// heapFlow is an explanation of one step.
func heapFlow(dst, expr, why string) []evidence.Flow {
	return []evidence.Flow{{Dst: dst, Src: "&x", Edges: []evidence.FlowEdge{{Expr: expr, Why: why}}}}
}

func indexOf(list ...evidence.Escape) *Index {
	x := NewIndex()
	for _, e := range list {
		if e.Verb == "" {
			e.Verb = evidence.EscapesToHeap
		}
		x.Add(e)
	}
	return x
}

func TestEscapeIndex(t *testing.T) {
	x := indexOf(
		evidence.Escape{File: "/m/a/a.go", Line: 3, Col: 1, Expr: "x"},
		evidence.Escape{File: "/m/a/a.go", Line: 3, Col: 1, Expr: "x", Func: "f",
			Flow: heapFlow("~r0", "return x", "return")}, // explains the first
		evidence.Escape{File: "/m/a/a.go", Line: 3, Col: 1, Expr: "x"}, // the same again
		evidence.Escape{File: "/m/a/a.go", Line: 3, Col: 9, Expr: "x"},
		evidence.Escape{File: "/m/b/a.go", Line: 3, Col: 1, Expr: "y"},
	)
	f := func(file string, line int, want string) {
		t.Helper()
		var got []string
		for _, e := range x.At(file, line) {
			got = append(got, e.Expr)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("At(%s, %d) = %v, want %s", file, line, got, want)
		}
	}
	f("/m/a/a.go", 3, "x x")
	f("a/a.go", 3, "x x")
	f("./b/a.go", 3, "y")
	f(`C:\m\b\a.go`, 3, "")
	f("/src/m/b/a.go", 3, "")
	f("a.go", 3, "x x y")
	f("/m/a/a.go", 4, "")
	f("", 0, "")
	if first := x.At("/m/a/a.go", 3)[0]; len(first.Flow) != 1 {
		t.Errorf("first %+v; want the explanation kept", first)
	}
	if got := new(Index).At("a.go", 1); got != nil {
		t.Errorf("zero index: At = %v", got)
	}
}

func TestPickEscape(t *testing.T) {
	x := indexOf(
		// lib.New returns &T{...}; its copy inlined into main.f is stored.
		evidence.Escape{File: "lib.go", Line: 5, Expr: "&T{...}", Func: "New",
			Flow: heapFlow("~r0", "return &T{...}", "return")},
		evidence.Escape{File: "f.go", Line: 10, Expr: "&lib.T{...}", Func: "f",
			Flow: heapFlow("{heap}", "global = t", "assign")},
		evidence.Escape{File: "f.go", Line: 11, Expr: "&own{...}", Func: "f",
			Flow: heapFlow("{heap}", "global = o", "assign")},
		// make with an argument that inlining put in.
		evidence.Escape{File: "lib.go", Line: 8, Expr: "make([]int, n)", Func: "Ints",
			Flow: heapFlow("~r0", "return", "return")},
		evidence.Escape{File: "f.go", Line: 12, Expr: "make([]int, 4)", Func: "f",
			Flow: heapFlow("{heap}", "c <- s", "send")},
		evidence.Escape{File: "f.go", Line: 13, Col: 1, Expr: "a", Func: "f",
			Flow: heapFlow("{heap}", "fmt.Print(a, b)", "call parameter")},
		evidence.Escape{File: "f.go", Line: 13, Col: 4, Expr: "b", Func: "f",
			Flow: heapFlow("{heap}", "fmt.Print(a, b)", "call parameter")},
		evidence.Escape{File: "f.go", Line: 13, Col: 7, Expr: `"constant"`, Func: "f"},
		evidence.Escape{File: "f.go", Line: 14, Expr: "&own{...}", Func: "g"},
		evidence.Escape{File: "f.go", Line: 14, Expr: "&own{...}", Func: "box[go.shape.struct { X []int }].f",
			Flow: heapFlow("{heap}", "x", "send")},
	)
	frame := func(fn, file string, line int, inlined bool) evidence.Frame {
		return evidence.Frame{Function: fn, File: file, Line: line, Inlined: inlined}
	}
	f := func(name string, kind finding.Kind, want string, frames ...evidence.Frame) {
		t.Helper()
		r := Explain(frames, kind, x)
		if want == "" && r != nil || want != "" && (r == nil || !strings.Contains(r.Text, want)) {
			t.Errorf("%s: reason %s, want %q", name, show(r), want)
		}
	}
	leaf := frame("example.com/lib.New", "lib.go", 5, false)
	inlined := frame("example.com/lib.New", "lib.go", 5, true)
	f("a leaf of its own", finding.KindNew, "is returned", leaf)
	f("a caller's line is not the leaf's", finding.KindNew, "is returned", leaf, frame("main.f", "f.go", 11, false))
	f("an inlined leaf", finding.KindNew, "is stored in `global`", frame("example.com/lib.New", "lib.go", 99, true),
		frame("main.f", "f.go", 10, false))
	f("an inlined leaf with its own line", finding.KindNew, "is returned", inlined, frame("main.f", "f.go", 11, false))
	f("unknown inlining, the leaf's package is named", finding.KindNew, "is stored in `global`",
		frame("example.com/lib.New", "lib.go", 99, false), frame("main.f", "f.go", 10, false))
	f("unknown inlining, nothing named", finding.KindNew, "no compiler output",
		frame("example.com/lib.New", "lib.go", 99, false), frame("main.f", "f.go", 11, false))
	f("an argument put in", finding.KindMake, "is sent on a channel", frame("example.com/lib.Ints", "lib.go", 8, true),
		frame("main.f", "f.go", 12, false))
	f("runtime frames are skipped", finding.KindNew, "is returned", frame("runtime.mallocgc", "malloc.go", 1, false),
		frame("runtime.newobject", "malloc.go", 2, false), leaf)
	f("boxes of one line are all named", finding.KindBoxing, "the copy of `a` or `b` that",
		frame("main.f", "f.go", 13, false))
	f("a constant is no allocation", finding.KindConversion, "names no such expression",
		frame("main.f", "f.go", 13, false))
	f("the decision of the function itself", finding.KindNew, "is sent", frame("main.box[...].f", "f.go", 14, false))
	f("map growth has no decision", finding.KindMapGrowth, "makes the map grow", frame("main.f", "f.go", 13, false))
	f("nothing known", finding.KindUnknown, "", frame("main.f", "f.go", 999, false))
	f("no frames", finding.KindNew, "")
	f("runtime only", finding.KindNew, "", frame("runtime.mallocgc", "malloc.go", 1, false))

	r := Explain([]evidence.Frame{leaf}, finding.KindNew, x)
	if r.At.Function != "example.com/lib.New" || r.At.Package != "example.com/lib" || r.At.Line != 5 ||
		r.Expr != "&T{...}" || r.From == nil || len(r.Flow) != 1 {
		t.Errorf("reason %+v lacks its place", r)
	}
}

func TestFunctionName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := functionName(in); got != want {
			t.Errorf("functionName(%q) = %q, want %q", in, got, want)
		}
	}
	f("f", "f")
	f("main.f.func1", "f.func1")
	f("(*T).m", "(*T).m")
	f("main.f", "f")
	f("example.com/a/b.(*T).m", "(*T).m")
	f("example.com/a/b.(*T[...]).m.func1", "(*T).m.func1")
	f("gopkg.in/yaml%2ev3.f", "f")
	f("example.com/m.newBox[...]", "newBox")
	f("", "")
	f("f[", "f")
	for in, want := range map[string]string{"f.func1": "f.func1", "newBox[go.shape.int]": "newBox",
		"box[go.shape.struct { X []int }].f": "box.f"} {
		if got := withoutTypes(in); got != want {
			t.Errorf("withoutTypes(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every reason that the compilers print has words; an unknown one is quoted.
func TestCauses(t *testing.T) {
	f := func(dst, expr, why, want string) {
		t.Helper()
		got := causeOf(&evidence.Escape{Flow: heapFlow(dst, expr, why)}).text
		if !strings.Contains(got, want) || strings.Contains(got, "``") {
			t.Errorf("cause of %s ← (%s, %s) = %q, want %q", dst, expr, why, got, want)
		}
	}
	f("~r0", "return x", "return", "is returned")
	f("~r0", "~r0 = x", "assign-pair", "is returned")
	f("{heap}", "g = x", "assign", "stored in `g`, which outlives")
	f("{heap}", "p.f = x", "assign", "through a pointer")
	f("{heap}", "m[k] = x", "assign", "the element `m[k]`")
	f("{heap}", "weird", "assign", "where it outlives")
	f("h", "h = x", "assign", "assigned to `h`, which outlives it")
	f("{heap}", "append(s, x)", "call parameter", "the elements of `s`")
	f("{heap}", "panic(x)", "call parameter", "passed to panic")
	f("{heap}", "fmt.Print(x)", "call parameter", "passed to `fmt.Print`, which may keep it")
	f("{heap}", "r.Read(b[:])", "call parameter", "method of an interface")
	f("{heap}", "f(x)", "call parameter", "function value")
	f("{heap}", "", "call parameter", "may keep it")
	f("{heap}", "c <- x", "send", "sent on a channel")
	f("{storage for func literal}", "x", "reference", "captured by a closure")
	f("{heap}", "func literal", "spill", "go statement")
	f("{storage for T{...}}", "x", "spill", "stored in `T{...}`")
	f("{heap}", "x", "too large for stack", "too large for the stack")
	f("{heap}", "x", "non-constant size", "not known at compile time")
	f("{storage for []*T{...}}", "[]*T{...}", "slice-literal-element", "part of `[]*T{...}`")
	f("{heap}", "m[k]", "key of map put", "key of a map")
	f("{temp}", "x", "no such reason", "flows to a temporary value (no such reason)")
	if got := causeOf(&evidence.Escape{Flow: []evidence.Flow{{Dst: "{temp}"}}}).text; got != "" {
		t.Errorf("a flow without steps gives %q", got)
	}
	long := strings.Repeat("é", 100)
	if got := quoted(long + "`"); len([]rune(got)) > 70 {
		t.Errorf("quoted gives %d runes", len([]rune(got)))
	}
}

// Each kind has words where the compiler has none.
func TestTextOfKind(t *testing.T) {
	for _, k := range []finding.Kind{
		finding.KindNew, finding.KindMake, finding.KindGrowth, finding.KindMap, finding.KindMapGrowth, finding.KindChan,
		finding.KindBoxing, finding.KindConversion, finding.KindConcat,
		finding.KindClosure, finding.KindGoroutine, finding.KindVariadic, finding.KindReflect, finding.KindString,
	} {
		if textOfKind(k, false) == "" || textOfKind(k, true) == "" {
			t.Errorf("no text for %q", k)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("main.f", "append(a, b[1:])", "{storage for x}", "global = x", "assign")
	f.Add("a/b.(*T[...]).f[", "\"", "{", "(", "call parameter")
	f.Fuzz(func(t *testing.T, fn, expr, dst, edge, why string) {
		for kind := range map[finding.Kind]bool{finding.KindUnknown: true, finding.KindNew: true,
			finding.KindGrowth: true, finding.KindBoxing: true, finding.KindConversion: true,
			finding.KindClosure: true} {
			x := indexOf(evidence.Escape{File: "a.go", Line: 1, Expr: expr, Func: fn, Flow: heapFlow(dst, edge, why)})
			r := Explain([]evidence.Frame{{Function: fn, File: "a.go", Line: 1}}, kind, x)
			if r != nil && r.Text == "" {
				t.Errorf("a reason without text")
			}
			RefineKind(kind, r)
		}
	})
}

// TestAnswered: that the compiler says nothing of a line means something only where it was asked.
func TestAnswered(t *testing.T) {
	x := NewIndex()
	frames := []evidence.Frame{{Function: "example.com/p.F", File: "/p/p.go", Line: 3}}
	for _, want := range []finding.Fate{finding.FateUnasked, finding.FateUnexplained} {
		if r := Explain(frames, finding.KindMake, x); r == nil || r.Fate != want {
			t.Errorf("%+v, want fate %d", r, want)
		}
		x.Answered("example.com/p")
	}
}
