package life

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// literalOf is what the compiler adds to the names of the cases' function literals.
var literalOf = map[string]string{"param": ".func1", "literal": ".func1", "inner": ".func1"}

// stackOf finds the frames of a case.
func stackOf(t *testing.T, file, name string) []evidence.Frame {
	t.Helper()
	type at struct{ depth, line int }
	var found []at
	for i, l := range strings.Split(program, "\n") {
		_, marks, ok := strings.Cut(l, "// case ")
		if !ok {
			continue
		}
		for m := range strings.SplitSeq(marks, ", ") {
			m = strings.TrimPrefix(m, "case ")
			if n, d, _ := strings.Cut(m, " "); n == name {
				depth, err := strconv.Atoi(d)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, at{depth, i + 1})
			}
		}
	}
	slices.SortFunc(found, func(a, b at) int { return cmp.Compare(a.depth, b.depth) })
	var out []evidence.Frame
	for _, f := range found {
		function := name
		if f.depth == 0 {
			function += literalOf[name]
		}
		out = append(out, evidence.Frame{File: file, Line: f.line, Function: function})
	}
	if len(out) == 0 {
		t.Fatalf("no case %s", name)
	}
	return out
}

// programTracer loads the program of the cases; the second result is its file.
func programTracer(t *testing.T) (*Tracer, string) {
	t.Helper()
	return tracerOf(t, program)
}

// tracerOf is the tracer of a program of one file.
func tracerOf(t *testing.T, program string) (*Tracer, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	src, problems, err := source.Load(t.Context(), source.Request{Dir: dir, Packages: []string{"p"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return New(src), filepath.Join(dir, "p.go")
}

func TestTrace(t *testing.T) {
	tracer, file := programTracer(t)
	for _, c := range []struct {
		name  string
		kind  finding.Kind
		via   string
		end   finding.End
		frame int
	}{
		{"result", finding.KindNew, "", finding.EndResult, 1},
		{"dies", finding.KindNew, "", finding.EndFrame, 1},
		{"named", finding.KindNew, "", finding.EndFrame, 1},
		{"method", finding.KindNew, "", finding.EndFrame, 2},
		{"global", finding.KindNew, "", finding.EndStored, 1},
		{"goes", finding.KindNew, "", finding.EndShared, 1},
		{"field", finding.KindMake, "", finding.EndStored, 1},
		{"owner", finding.KindMake, "", finding.EndFrame, 1},
		{"pooled", finding.KindMake, "", finding.EndStored, 0},
		{"text", finding.KindConversion, "", finding.EndResult, 1},
		{"compared", finding.KindConversion, "", finding.EndFrame, 1},
		{"opaque", finding.KindMake, "", finding.EndUnknown, 0},
		{"iface", finding.KindMake, "", finding.EndUnknown, 0},
		{"concat", finding.KindConcat, "", finding.EndResult, 0},
		{"grown", finding.KindGrowth, "", finding.EndFrame, 0},
		{"element", finding.KindGrowth, "", finding.EndFrame, 1},
		{"table", finding.KindMapGrowth, "", finding.EndFrame, 1},
		{"reader", finding.KindMake, "bufio.NewReader", finding.EndFrame, 0},
		{"buffer", finding.KindGrowth, "bytes.(*Buffer).WriteString", finding.EndFrame, 0},
		{"builder", finding.KindString, "strings.(*Builder).WriteString", finding.EndResult, 0},
		{"bytes", finding.KindGrowth, "bytes.(*Buffer).WriteString", finding.EndResult, 0},
		{"shares", finding.KindGrowth, "", finding.EndUnknown, 0},
		{"sets", finding.KindConversion, "", finding.EndUnknown, 0},
		{"lent", finding.KindGrowth, "bytes.(*Buffer).WriteString", finding.EndResult, 1},
		{"rune", finding.KindConversion, "", finding.EndFrame, 0},
		{"error", finding.KindConversion, "fmt.Sprintf", finding.EndResult, 0},
		{"sorted", finding.KindMake, "", finding.EndFrame, 0},
		{"boxed", finding.KindNew, "", finding.EndFrame, 0},
		{"closure", finding.KindClosure, "", finding.EndFrame, 0},
		{"generic", finding.KindMake, "", finding.EndFrame, 1},
		{"param", finding.KindNew, "", finding.EndUnknown, 0},
		{"inner", finding.KindGrowth, "", finding.EndResult, 2},
		{"literal", finding.KindGrowth, "", finding.EndUnknown, 0},
		{"waited", finding.KindMake, "", finding.EndFrame, 0},
		{"pair", finding.KindMake, "", finding.EndFrame, 1},
		{"atomic", finding.KindConversion, "", finding.EndFrame, 1},
		{"chain", finding.KindNew, "", finding.EndResult, 0},
		{"looked", finding.KindConversion, "", finding.EndFrame, 0},
		{"served", finding.KindNew, "", finding.EndFrame, 1},
		{"zipped", finding.KindNew, "compress/gzip.NewWriter", finding.EndFrame, 1},
		{"request", finding.KindNew, "", finding.EndUnknown, 0},
		{"lone", finding.KindMake, "", finding.EndFrame, 1},
		{"value", finding.KindMake, "", finding.EndResult, 0},
		{"several", finding.KindMake, "", finding.EndResult, 0},
		{"leaf", finding.KindNew, "", finding.EndFrame, 1},
		{"summed", finding.KindNew, "crypto/sha256.New", finding.EndFrame, 0},
		{"sum", finding.KindMake, "", finding.EndResult, 0},
		{"list", finding.KindMake, "", finding.EndFrame, 0},
		{"words", finding.KindNew, "", finding.EndResult, 0},
		{"copier", finding.KindMake, "io.Copy", finding.EndFrame, 0},
		{"backward", finding.KindMake, "", finding.EndFrame, 0},
		{"seen", finding.KindMake, "", finding.EndFrame, 0},
		{"holding", finding.KindMake, "", finding.EndStored, 0},
		{"anyone", finding.KindMake, "", finding.EndUnknown, 0},
		{"elsewhere", finding.KindMake, "", finding.EndUnknown, 0},
		{"with", finding.KindMake, "", finding.EndFrame, 0},
		{"through", finding.KindMake, "", finding.EndUnknown, 0},
	} {
		l := tracer.Trace(Birth{Kind: c.kind, Via: c.via}, stackOf(t, file, c.name))
		if l.End != c.end || l.Frame != c.frame {
			t.Errorf("%s: end %d in frame %d, want %d in %d (%+v)", c.name, l.End, l.Frame, c.end, c.frame, l)
		}
	}
}

// TestWays: every line that hands an object on counts, and no line that only uses it.
func TestWays(t *testing.T) {
	tracer, file := programTracer(t)
	stack := stackOf(t, file, "ways")
	stack[0].Function = "kept"
	l := tracer.Trace(Birth{Kind: finding.KindNew}, stack)
	born := stack[0].Line
	if want := []int{born + 2, born + 7, born + 9}; !slices.Equal(l.Ways.Lines, want) {
		t.Errorf("handed on at lines %v, want %v", l.Ways.Lines, want)
	}
}

// usesCases are those of TestUses: what functions do with what they make.
var usesCases = []struct {
	name     string
	function string
	kind     finding.Kind
	via      string
	want     finding.Passed
}{
	{"folded", "folds", finding.KindString, "strings.ToLower", finding.Passed{Compared: true}},
	{"sorted", "sorts", finding.KindString, "strings.ToLower", finding.Passed{}},
	{"key", "folded", finding.KindString, "strings.ToLower", finding.Passed{Key: finding.Key{Asked: true}}},
	{"parts", "parts", finding.KindMake, "strings.Split", finding.Passed{}},
	{"counted", "lastPart", finding.KindMake, "strings.Split", finding.Passed{Listed: true}},
	{"place", "lineAndColumn", finding.KindMake, "strings.Split", finding.Passed{}},
	{"ownparts", "ownParts", finding.KindMake, "strings.Split", finding.Passed{}},
	{"handed", "joinedParts", finding.KindMake, "strings.Split", finding.Passed{Listed: true}},
	{"ends", "ends", finding.KindMake, "strings.Split", finding.Passed{Listed: true}},
	{"forwarded", "encodes", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Handed: true}, Argument: true}},
	{"logged", "logs", finding.KindBoxing, "", finding.Passed{Spared: true, Argument: true}},
	{"logged", "logs", finding.KindVariadic, "", finding.Passed{Spared: true, Argument: true}},
	{"paired", "pairs", finding.KindBoxing, "", finding.Passed{Argument: true}},
	{"unchanged", "boxesOrigin", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Constant: true}, Argument: true}},
	{"tabled", "boxesElements", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Constant: true}, Argument: true}},
	{"changed", "boxesElements", finding.KindBoxing, "", finding.Passed{Argument: true}},
	{"ranged", "boxesElements", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Constant: true}, Argument: true}},
	{"alike", "travel", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Field: "seen", Type: "place"}, Argument: true}},
	{"mixed", "travel", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Before: true}}},
	{"shown", "travel", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Before: true}}},
	{"same", "travel", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Before: true}}},
	{"marks", "travel", finding.KindBoxing, "", finding.Passed{Argument: true}},
	{"sliced", "legs", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Field: "some", Type: "place"}}},
	{"mapped", "legs", finding.KindBoxing, "", finding.Passed{Box: finding.Box{Field: "by", Type: "place"}}},
	{"twotypes", "legs", finding.KindBoxing, "", finding.Passed{Argument: true}},
	{"printed", "legs", finding.KindBoxing, "", finding.Passed{Argument: true}},
	{"unasserted", "legs", finding.KindBoxing, "", finding.Passed{}},
	{"pushed", "push", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Field: "next", Type: "place"}}},
	{"open", "push", finding.KindBoxing, "", finding.Passed{Argument: true, Box: finding.Box{Before: true}}},
	{"boxedresult", "boxes", finding.KindBoxing, "", finding.Passed{}},
	{"hoisted", "loops", finding.KindClosure, "", finding.Passed{Fixed: true}},
	{"turned", "loops", finding.KindClosure, "", finding.Passed{}},
	{"hooked", "hooked", finding.KindClosure, "", finding.Passed{Spared: true}},
	{"ofreceiver", "size", finding.KindClosure, "", finding.Passed{Fixed: true}},
	{"ofargument", "size", finding.KindClosure, "", finding.Passed{}},
	{"column", "columns", finding.KindString, "strconv.Itoa", finding.Passed{Taken: true}},
	{"boxedtext", "listedAsAny", finding.KindString, "strconv.Itoa", finding.Passed{Taken: true}},
	{"printedtext", "printedText", finding.KindString, "strconv.Itoa", finding.Passed{}},
	{"line", "line", finding.KindString, "strconv.Itoa", finding.Passed{}},
	{"scratch", "write", finding.KindMake, "", finding.Passed{Scratch: true}},
	{"notscratch", "write", finding.KindMake, "", finding.Passed{}},
	{"built", "inBuffer", finding.KindConversion, "bytes.(*Buffer).String", finding.Passed{Built: true}},
	{"serialized", "text", finding.KindConversion, "bytes.(*Buffer).String", finding.Passed{}},
	{"lookedup", "qualified", finding.KindConcat, "", finding.Passed{Key: finding.Key{Asked: true}}},
	{"replaced", "replace", finding.KindConcat, "", finding.Passed{}},
	{"reported", "report", finding.KindConcat, "", finding.Passed{}},
}

// TestUses: what the function itself does with what it makes.
func TestUses(t *testing.T) {
	tracer, file := programTracer(t)
	for _, c := range usesCases {
		stack := stackOf(t, file, c.name)
		stack[0].Function = c.function
		got := tracer.Trace(Birth{Kind: c.kind, Via: c.via}, stack).Passed
		if c.kind == finding.KindBoxing && got.Argument != c.want.Argument {
			t.Errorf("%s: an argument: %v", c.name, got.Argument)
		}
		got.Box.Made = false // boxes go on
		if got.Compared != c.want.Compared || got.Listed != c.want.Listed || got.Spared != c.want.Spared || !reflect.DeepEqual(got.Box, c.want.Box) || got.Key.Asked != c.want.Key.Asked || got.Fixed != c.want.Fixed || got.Taken != c.want.Taken || got.Scratch != c.want.Scratch || got.Built != c.want.Built {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	found := stackOf(t, file, "lookedup")
	found[0].Function = "qualified"
	if key := tracer.Trace(Birth{Kind: finding.KindConcat}, found).Passed.Key.Put; key.Line != found[1].Line+5 {
		t.Errorf("the text becomes a key at line %d, want %d", key.Line, found[1].Line+5)
	}
	stack := stackOf(t, file, "emptied")
	if m := tracer.Trace(Birth{Kind: finding.KindString, Via: "strings.(*Builder).WriteRune"}, []evidence.Frame{{
		File: file, Line: stack[0].Line, Function: "pieces"}}).Maker; !m.Emptied || m.At.Line != stack[1].Line {
		t.Errorf("the builder that is reset: %+v", m)
	}
	stack = stackOf(t, file, "cleared")
	if m := tracer.Trace(Birth{Kind: finding.KindGrowth, Via: "bytes.(*Buffer).WriteRune"}, []evidence.Frame{{
		File: file, Line: stack[0].Line, Function: "cleared"}}).Maker; m.Emptied || m.At.Line != stack[1].Line {
		t.Errorf("the buffer that keeps its memory: %+v", m)
	}
	stack = stackOf(t, file, "enlarged")
	if m := tracer.Trace(Birth{Kind: finding.KindString, Via: "strings.(*Builder).WriteRune"}, []evidence.Frame{{
		File: file, Line: stack[0].Line, Function: "grownOnce"}}).Maker; !m.Grown || m.Emptied || m.At.Line != stack[1].Line {
		t.Errorf("the builder that is grown: %+v", m)
	}
}

// TestDecoder: a decoder of one value that is in memory is told from others.
func TestDecoder(t *testing.T) {
	tracer, file := programTracer(t)
	made := stackOf(t, file, "decoder")[0].Line
	for _, c := range []struct {
		name, function, via string
		line                int
	}{
		{"decoder", "decodeOne", "encoding/json.NewDecoder", made},
		{"decoder", "decodeOne", "bytes.NewReader", made},
		{"decode", "decodeOne", "encoding/json.(*Decoder).Decode", made},
		{"strict", "decodeStrictly", "encoding/json.NewDecoder", 0},
		{"stream", "decodeAll", "encoding/json.NewDecoder", 0},
		{"remote", "decodeStream", "encoding/json.NewDecoder", 0},
	} {
		stack := stackOf(t, file, c.name)
		stack[0].Function = c.function
		m := tracer.Trace(Birth{Kind: finding.KindNew, Via: c.via}, stack).Maker
		if m.At.Line != c.line || m.Whole != (c.line > 0) {
			t.Errorf("%s by %s: %+v, want line %d", c.name, c.via, m, c.line)
		}
	}
}

// TestPooled: an object that comes from a pool, by way of a field, is told from one that is new.
func TestPooled(t *testing.T) {
	tracer, file := programTracer(t)
	for name, want := range map[string]bool{"frompool": true, "fromnew": false} {
		stack := stackOf(t, file, name)
		stack[0].Function = "write"
		if m := tracer.Trace(Birth{Kind: finding.KindNew, Via: "compress/gzip.(*Writer).Write"}, stack).Maker; m.Pooled != want {
			t.Errorf("%s: %+v, want %v", name, m, want)
		}
	}
}

// TestLends: what functions read from a field, and hand on.
func TestLends(t *testing.T) {
	tracer, _ := programTracer(t)
	f := func(name string, want bool) {
		t.Helper()
		for fn := range tracer.src.Functions() {
			for _, b := range fn.Blocks {
				for _, in := range b.Instrs {
					if a, ok := in.(*ssa.FieldAddr); ok && flow.Field(a).Name() == name {
						if got := tracer.Lends(tracer.placeOf(flow.Field(a).Pos())); got != want {
							t.Errorf("%s is handed on: %v, want %v", name, got, want)
						}
						return
					}
				}
			}
		}
		t.Errorf("no function has a field %s", name)
	}
	f("scratch", false)
	f("handed", true)
}

func TestPlain(t *testing.T) {
	for function, want := range map[string]string{
		"slices.Sorted[go.shape.string]-range1": "slices.Sorted", "p.(*T[...]).M": "p.(*T).M", "p.F-range2.func1": "p.F", "p.F": "p.F",
	} {
		if got := Plain(function); got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}
