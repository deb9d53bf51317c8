package diagnose

import (
	"os"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func TestKindOf(t *testing.T) {
	f := func(frames, fn, expr string, want Kind) {
		t.Helper()
		if got := kindOf(strings.Fields(frames), fn, expr); got != want {
			t.Errorf("kindOf(%q, %q, %q) = %q, want %q", frames, fn, expr, got, want)
		}
	}
	f("", "main.f", "", KindUnknown)
	f("runtime.mallocgc", "main.f", "", KindUnknown)
	f("runtime.mallocgcSmallScanNoHeaderSC2", "main.f", "&T{...}", KindNew)
	f("runtime.mallocgc runtime.newobject", "main.f", "", KindNew)
	f("runtime.mallocgc runtime.newobject", "main.f", "func literal", KindClosure)
	f("runtime.mallocgc runtime.newobject", "main.f", "... argument", KindVariadic)
	f("runtime.mallocgc runtime.newobject", "main.f", "x", KindNew)
	f("runtime.mallocgc runtime.growslice", "main.f", "", KindGrowth)
	f("runtime.mallocgc runtime.growsliceNoAlias", "main.f", "", KindGrowth)
	f("runtime.mallocgc runtime.makeslice", "main.f", "", KindMake)
	f("runtime.mallocgc runtime.makeslicecopy", "main.f", "", KindMake)
	f("runtime.mallocgc runtime.convTstring", "main.f", "", KindBoxing)
	f("runtime.mallocgc runtime.rawstring runtime.rawstringtmp runtime.concatstrings runtime.concatstring2", "main.f", "", KindConcat)
	f("runtime.mallocgc runtime.rawbyteslice runtime.concatbytes runtime.concatbyte2", "main.f", "", KindConcat)
	f("runtime.mallocgc runtime.slicebytetostring", "main.f", "", KindConversion)
	f("runtime.mallocgc runtime.rawbyteslice runtime.stringtoslicebyte", "main.f", "", KindConversion)
	f("runtime.mallocgc runtime.rawstring runtime.intstring", "main.f", "", KindConversion)
	f("runtime.mallocgc runtime.newobject internal/runtime/maps.NewMap runtime.makemap", "main.f", "", KindMap)
	f("runtime.newobject internal/runtime/maps.NewEmptyMap runtime.makemap_small", "main.f", "", KindMap)
	f("runtime.newarray internal/runtime/maps.newarray internal/runtime/maps.(*table).grow runtime.mapassign_faststr", "main.f", "", KindMapGrowth)
	f("runtime.newarray internal/runtime/maps.newGroups runtime.mapassign_faststr", "main.f", "map[string]int{...}", KindMap)
	f("internal/runtime/maps.(*table).rehash", "main.f", "", KindMapGrowth)
	f("runtime.mallocgc runtime.makechan", "main.f", "", KindChan)
	f("runtime.newobject runtime.malg runtime.newproc1 runtime.newproc.func1 runtime.systemstack", "main.f", "", KindGoroutine)
	f("runtime.growslice runtime.allgadd runtime.newproc1 runtime.newproc.func1 runtime.systemstack", "", "", KindGoroutine)
	f("runtime.mallocgc reflect.unsafe_New", "main.f", "", KindReflect)
	f("runtime.makeslice", "reflect.MakeSlice", "", KindReflect)
	f("runtime.growslice", "strings.(*Builder).WriteString", "", KindString)
	f("internal/bytealg.MakeNoZero", "strings.Repeat", "", KindString)
	f("runtime.makeslice", "bytes.(*Buffer).grow", "", KindGrowth)
	f("", "bytes.growSlice", "", KindGrowth)
	f("", "strings.Join", "", KindString)
	f("", "strconv.Itoa", "", KindConversion)
	f("", "strconv.AppendInt", "", KindGrowth)
}

func TestKindOfExpr(t *testing.T) {
	f := func(expr string, want Kind) {
		t.Helper()
		if got := kindOfExpr(expr); got != want {
			t.Errorf("kindOfExpr(%q) = %q, want %q", expr, got, want)
		}
	}
	f("", KindUnknown)
	f("x", KindUnknown)
	f("append", KindGrowth)
	f("append(s, a + b)", KindGrowth)
	f("make([]byte, n + 1)", KindMake)
	f("make(map[string]int, n)", KindMap)
	f("make(http.Header)", KindMap)
	f("make(Header, n)", KindUnknown)
	f("make(chan int)", KindChan)
	f("func literal", KindClosure)
	f("... argument", KindVariadic)
	f("string(b)", KindConversion)
	f("string(b) + c", KindConcat)
	f("([]byte)(s)", KindConversion)
	f(`a + " + " + b`, KindConcat)
	f(`f("a + b")`, KindUnknown)
	f(`f(a + b)`, KindUnknown)
	f("&T{...}", KindNew)
	f("new(T)", KindNew)
	f("map[string]int{...}", KindMap)
	f("[]int{...}", KindNew)
	f("T{...}", KindUnknown)
	f("\"unclosed", KindUnknown)
	f("+ ", KindUnknown)
	f(" + ", KindUnknown)
}

func TestKindOfEscape(t *testing.T) {
	f := func(verb evidence.EscapeVerb, expr string, want Kind) {
		t.Helper()
		if got := kindOfEscape(&evidence.Escape{Verb: verb, Expr: expr}); got != want {
			t.Errorf("kindOfEscape(%s %q) = %q, want %q", verb, expr, got, want)
		}
	}
	f(evidence.MovedToHeap, "x", KindNew)
	f(evidence.EscapesToHeap, "x", KindBoxing)
	f(evidence.EscapesToHeap, "T{...}", KindBoxing)
	f(evidence.EscapesToHeap, `"constant"`, KindUnknown)
	f(evidence.EscapesToHeap, "-12", KindUnknown)
	f(evidence.EscapesToHeap, "true", KindUnknown)
	f(evidence.EscapesToHeap, `"a" + b`, KindConcat)
}

func TestKindAtLine(t *testing.T) {
	f := func(body string, want Kind) {
		t.Helper()
		src := "package p\n\ntype T struct{ m map[string]int; a any; n int }\ntype header map[string][]string\nfunc (t *T) method() {}\nfunc f(s, u string, b []byte, i int, v any, t *T, h header) {\n" + body + "\n}\n"
		if got := kindAtLine([]byte(src), 7); got != want {
			t.Errorf("kindAtLine(%q) = %q, want %q", body, got, want)
		}
	}
	f("", KindUnknown)
	f("i++", KindUnknown)
	f("b = append(b, 1)", KindGrowth)
	f("b = make([]byte, i)", KindMake)
	f("t.m = make(map[string]int)", KindMap)
	f("h = make(header)", KindMap)
	f("v = make(chan int)", KindChan)
	f("v = make(unknown)", KindUnknown)
	f("t = &T{n: 1}", KindNew)
	f("t = new(T)", KindNew)
	f("v = []int{1, 2}", KindNew)
	f("v = [2]int{1, 2}", KindUnknown)
	f("t.m = map[string]int{}", KindMap)
	f("s = string(b)", KindConversion)
	f("b = []byte(s)", KindConversion)
	f("v = []rune(s)", KindConversion)
	f(`s = string("constant")`, KindUnknown)
	f("go f(func() {})", KindClosure)
	f("v = func() int { return i }", KindClosure)
	f("v = t.method", KindClosure)
	f("t.method()", KindUnknown)
	f("t.m[s] = i", KindMapGrowth)
	f("b[i] = 1", KindUnknown)
	f(`s = "a" + s + u`, KindConcat)
	f(`s = "a" + "b"`, KindUnknown)
	f("s = s + u", KindUnknown)
	f("s = string(b) + u", KindUnknown) // the conversion may allocate, or the sum
	f("s += u", KindUnknown)
	f(`s += "x"`, KindConcat)
	f("i = i + 1", KindUnknown)
	f("fmt.Println(i)", KindBoxing)
	f(`fmt.Println("constant")`, KindUnknown)
	f("fmt := t; fmt.method()", KindUnknown)
	f("x := T{}; v = &x", KindNew)
	f("x := T{}; v = x.n", KindUnknown)
	f("append := f; append(b, 1)", KindUnknown)
	f("t = &T{n: len(append(b, 1))}", KindUnknown)
	f("b = append(b, 1", KindGrowth) // a syntax error further on
}

func TestKindAtLineOfNoGo(t *testing.T) {
	for _, src := range []string{"", "\x00", "package", strings.Repeat("(", 10000)} {
		if got := kindAtLine([]byte(src), 1); got != KindUnknown {
			t.Errorf("kindAtLine(%.20q) = %q", src, got)
		}
	}
}

// The syntax may leave a kind open, but must not name a wrong one. Nearly all
// of the program's lines are clear.
func TestKindAtLineAgreesWithRuns(t *testing.T) {
	const file = "testdata/reason/main.go"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds := newSourceKinds(src)
	open, all := 0, 0
	for line, w := range wantedLines(t, file) {
		if w.kind == KindString || w.kind == KindReflect || strings.HasPrefix(w.text, "has to grow") {
			continue // made inside a library
		}
		all++
		switch got := kinds.at(line); got {
		case w.kind:
		case KindUnknown:
			open++
		default:
			t.Errorf("line %d: kind %q, want %q", line, got, w.kind)
		}
	}
	if open > all/3 {
		t.Errorf("the kind is open on %d of %d lines", open, all)
	}
}

func FuzzKindAtLine(f *testing.F) {
	if src, err := os.ReadFile("testdata/reason/main.go"); err == nil {
		f.Add(src)
	}
	f.Add([]byte("package p\nvar x = append(make([]int, 0), func() { &x.y[:] + \"\" })"))
	f.Fuzz(func(t *testing.T, src []byte) {
		k := newSourceKinds(src)
		for line := range 10 {
			k.at(line)
		}
		kindOfExpr(string(src))
	})
}
