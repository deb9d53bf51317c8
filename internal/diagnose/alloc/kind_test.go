package alloc

import (
	"os"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

func TestKindOf(t *testing.T) {
	f := func(frames, fn, expr string, want finding.Kind) {
		t.Helper()
		if got := Of(strings.Fields(frames), fn, expr); got != want {
			t.Errorf("kindOf(%q, %q, %q) = %q, want %q", frames, fn, expr, got, want)
		}
	}
	f("", "main.f", "", finding.KindUnknown)
	f("runtime.mallocgc", "main.f", "", finding.KindUnknown)
	f("runtime.mallocgcSmallScanNoHeaderSC2", "main.f", "&T{...}", finding.KindNew)
	f("runtime.mallocgc runtime.newobject", "main.f", "", finding.KindNew)
	f("runtime.mallocgc runtime.newobject", "main.f", "func literal", finding.KindClosure)
	f("runtime.mallocgc runtime.newobject", "main.f", "... argument", finding.KindVariadic)
	f("runtime.mallocgc runtime.newobject", "main.f", "x", finding.KindNew)
	f("runtime.mallocgc runtime.growslice", "main.f", "", finding.KindGrowth)
	f("runtime.mallocgc runtime.growsliceNoAlias", "main.f", "", finding.KindGrowth)
	f("runtime.mallocgc runtime.makeslice", "main.f", "", finding.KindMake)
	f("runtime.mallocgc runtime.makeslicecopy", "main.f", "", finding.KindMake)
	f("runtime.mallocgc runtime.convTstring", "main.f", "", finding.KindBoxing)
	f("runtime.mallocgc runtime.rawstring runtime.rawstringtmp runtime.concatstrings runtime.concatstring2", "main.f",
		"", finding.KindConcat)
	f("runtime.mallocgc runtime.rawbyteslice runtime.concatbytes runtime.concatbyte2", "main.f", "", finding.KindConcat)
	f("runtime.mallocgc runtime.slicebytetostring", "main.f", "", finding.KindConversion)
	f("runtime.mallocgc runtime.rawbyteslice runtime.stringtoslicebyte", "main.f", "", finding.KindConversion)
	f("runtime.mallocgc runtime.rawstring runtime.intstring", "main.f", "", finding.KindConversion)
	f("runtime.mallocgc runtime.newobject internal/runtime/maps.NewMap runtime.makemap", "main.f", "", finding.KindMap)
	f("runtime.newobject internal/runtime/maps.NewEmptyMap runtime.makemap_small", "main.f", "", finding.KindMap)
	f("runtime.newarray internal/runtime/maps.newarray internal/runtime/maps.(*table).grow runtime.mapassign_faststr",
		"main.f", "", finding.KindMapGrowth)
	f("runtime.newarray internal/runtime/maps.newGroups runtime.mapassign_faststr", "main.f", "map[string]int{...}",
		finding.KindMap)
	f("internal/runtime/maps.(*table).rehash", "main.f", "", finding.KindMapGrowth)
	f("runtime.mallocgc runtime.makechan", "main.f", "", finding.KindChan)
	f("runtime.newobject runtime.malg runtime.newproc1 runtime.newproc.func1 runtime.systemstack", "main.f", "",
		finding.KindGoroutine)
	f("runtime.growslice runtime.allgadd runtime.newproc1 runtime.newproc.func1 runtime.systemstack", "", "",
		finding.KindGoroutine)
	f("runtime.mallocgc reflect.unsafe_New", "main.f", "", finding.KindReflect)
	f("runtime.makeslice", "reflect.MakeSlice", "", finding.KindReflect)
	f("runtime.growslice", "strings.(*Builder).WriteString", "", finding.KindString)
	f("internal/bytealg.MakeNoZero", "strings.Repeat", "", finding.KindString)
	f("runtime.makeslice", "bytes.(*Buffer).grow", "", finding.KindGrowth)
	f("", "bytes.growSlice", "", finding.KindGrowth)
	f("", "strings.Join", "", finding.KindString)
	f("", "strconv.Itoa", "", finding.KindConversion)
	f("", "strconv.AppendInt", "", finding.KindGrowth)
}

func TestKindOfExpr(t *testing.T) {
	f := func(expr string, want finding.Kind) {
		t.Helper()
		if got := KindOfExpr(expr); got != want {
			t.Errorf("kindOfExpr(%q) = %q, want %q", expr, got, want)
		}
	}
	f("", finding.KindUnknown)
	f("x", finding.KindUnknown)
	f("append", finding.KindGrowth)
	f("append(s, a + b)", finding.KindGrowth)
	f("make([]byte, n + 1)", finding.KindMake)
	f("make(map[string]int, n)", finding.KindMap)
	f("make(http.Header)", finding.KindMap)
	f("make(Header, n)", finding.KindUnknown)
	f("make(chan int)", finding.KindChan)
	f("func literal", finding.KindClosure)
	f("... argument", finding.KindVariadic)
	f("string(b)", finding.KindConversion)
	f("string(b) + c", finding.KindConcat)
	f("([]byte)(s)", finding.KindConversion)
	f(`a + " + " + b`, finding.KindConcat)
	f(`f("a + b")`, finding.KindUnknown)
	f(`f(a + b)`, finding.KindUnknown)
	f("&T{...}", finding.KindNew)
	f("new(T)", finding.KindNew)
	f("map[string]int{...}", finding.KindMap)
	f("[]int{...}", finding.KindNew)
	f("T{...}", finding.KindUnknown)
	f("\"unclosed", finding.KindUnknown)
	f("+ ", finding.KindUnknown)
	f(" + ", finding.KindUnknown)
}

func TestKindOfEscape(t *testing.T) {
	f := func(verb evidence.EscapeVerb, expr string, want finding.Kind) {
		t.Helper()
		if got := KindOfEscape(&evidence.Escape{Verb: verb, Expr: expr}); got != want {
			t.Errorf("kindOfEscape(%s %q) = %q, want %q", verb, expr, got, want)
		}
	}
	f(evidence.MovedToHeap, "x", finding.KindNew)
	f(evidence.EscapesToHeap, "x", finding.KindBoxing)
	f(evidence.EscapesToHeap, "T{...}", finding.KindBoxing)
	f(evidence.EscapesToHeap, `"constant"`, finding.KindUnknown)
	f(evidence.EscapesToHeap, "-12", finding.KindUnknown)
	f(evidence.EscapesToHeap, "true", finding.KindUnknown)
	f(evidence.EscapesToHeap, `"a" + b`, finding.KindConcat)
}

func TestSourceAt(t *testing.T) {
	f := func(body string, want finding.Kind) {
		t.Helper()
		src := "package p\n\ntype T struct{ m map[string]int; a any; n int }\ntype header map[string][]string\nfunc " +
			"(t *T) method() {}\nfunc f(s, u string, b []byte, i int, v any, t *T, h header) {\n" + body + "\n}\n"
		if got := NewSource([]byte(src)).At(7); got != want {
			t.Errorf("the kind of (%q) = %q, want %q", body, got, want)
		}
	}
	f("", finding.KindUnknown)
	f("i++", finding.KindUnknown)
	f("b = append(b, 1)", finding.KindGrowth)
	f("b = make([]byte, i)", finding.KindMake)
	f("t.m = make(map[string]int)", finding.KindMap)
	f("h = make(header)", finding.KindMap)
	f("v = make(chan int)", finding.KindChan)
	f("v = make(unknown)", finding.KindUnknown)
	f("t = &T{n: 1}", finding.KindNew)
	f("t = new(T)", finding.KindNew)
	f("v = []int{1, 2}", finding.KindNew)
	f("v = [2]int{1, 2}", finding.KindUnknown)
	f("t.m = map[string]int{}", finding.KindMap)
	f("s = string(b)", finding.KindConversion)
	f("b = []byte(s)", finding.KindConversion)
	f("v = []rune(s)", finding.KindConversion)
	f(`s = string("constant")`, finding.KindUnknown)
	f("go f(func() {})", finding.KindClosure)
	f("v = func() int { return i }", finding.KindClosure)
	f("v = t.method", finding.KindClosure)
	f("t.method()", finding.KindUnknown)
	f("t.m[s] = i", finding.KindMapGrowth)
	f("b[i] = 1", finding.KindUnknown)
	f(`s = "a" + s + u`, finding.KindConcat)
	f(`s = "a" + "b"`, finding.KindUnknown)
	f("s = s + u", finding.KindUnknown)
	f("s = string(b) + u", finding.KindUnknown) // the conversion may allocate, or the sum
	f("s += u", finding.KindUnknown)
	f(`s += "x"`, finding.KindConcat)
	f("i = i + 1", finding.KindUnknown)
	f("fmt.Println(i)", finding.KindBoxing)
	f(`fmt.Println("constant")`, finding.KindUnknown)
	f("fmt := t; fmt.method()", finding.KindUnknown)
	f("x := T{}; v = &x", finding.KindNew)
	f("x := T{}; v = x.n", finding.KindUnknown)
	f("append := f; append(b, 1)", finding.KindUnknown)
	f("t = &T{n: len(append(b, 1))}", finding.KindUnknown)
	f("b = append(b, 1", finding.KindGrowth) // a syntax error further on
}

func TestSourceAtOfNoGo(t *testing.T) {
	for _, src := range []string{"", "\x00", "package", strings.Repeat("(", 10000)} {
		if got := NewSource([]byte(src)).At(1); got != finding.KindUnknown {
			t.Errorf("the kind of (%.20q) = %q", src, got)
		}
	}
}

func FuzzKindAtLine(f *testing.F) {
	if src, err := os.ReadFile("testdata/reason/main.go"); err == nil {
		f.Add(src)
	}
	f.Add([]byte("package p\nvar x = append(make([]int, 0), func() { &x.y[:] + \"\" })"))
	f.Fuzz(func(t *testing.T, src []byte) {
		k := NewSource(src)
		for line := range 10 {
			k.At(line)
		}
		KindOfExpr(string(src))
	})
}
