package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// codeOf builds the data with machine code as read gives it, at the addresses
// that profiles of this package's own writer have.
func codeOf(t *testing.T, o Options) (views, *Rest) {
	t.Helper()
	o.Report = report
	data, rest, err := Data(small(t), o)
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Views views }
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v.Views, rest
}

// parse is machine code around the addresses that profiles of the writer have:
// 0x1001, 0x1002 …
func parse() evidence.Code {
	c := evidence.Code{Function: "example.com/m/a.Parse", File: "/src/a/a.go"}
	for i := range uint64(64) {
		c.Instructions = append(c.Instructions, evidence.Instruction{Address: 0x1000 + 2*i, File: "a.go", Line: 20 + int(i), Text: "NOP"})
	}
	return c
}

func TestCode(t *testing.T) {
	var asked []string
	all, _ := codeOf(t, Options{Code: func(b Binary, functions []string) ([]evidence.Code, error) {
		asked = functions
		if b.File != "program" || !slices.Equal(b.Runs, []string{"service"}) {
			t.Errorf("asked for %+v", b)
		}
		return []evidence.Code{parse(), {Function: "main.main"}, {Function: "unasked", Instructions: parse().Instructions}}, nil
	}})
	v := all.Code
	if !slices.Contains(asked, "example.com/m/a.Parse") || !slices.Contains(asked, "main.main") {
		t.Errorf("asked for %q", asked)
	}
	if v.Left != 0 || len(v.Missing) != 0 || len(v.Functions) != len(asked) {
		t.Fatalf("view %+v", v)
	}
	// The places of the functions, one behind the other, are those of the frames.
	places := map[int32]string{0: ""}
	for _, f := range v.Functions {
		for range f.Step {
			places[int32(len(places))] = f.Name
		}
		if (len(f.Code) > 0) != (f.Name == "example.com/m/a.Parse") {
			t.Errorf("%s has %d pieces of machine code", f.Name, len(f.Code))
		}
	}
	seen := map[int32]bool{}
	for i, n := range all.Flame.Frames.Place {
		seen[n] = true
		if name := all.Flame.Functions.Name[all.Flame.Frames.Function[i]]; n > 0 && name != places[n] {
			t.Errorf("frame %d of %s stands at place %d of %s", i, name, n, places[n])
		}
	}
	if len(seen) != len(places) {
		t.Errorf("frames stand at %d places, want %d", len(seen), len(places))
	}
	f := v.Functions[slices.IndexFunc(v.Functions, func(f codeFunction) bool { return len(f.Code) > 0 })]
	if f.Code[0].First != "1000" || len(f.Code[0].Step) != 64 || len(f.Code[0].At) != len(f.Step) {
		t.Fatalf("function %+v", f)
	}
	// Each place lies in the instruction of its address.
	first, err := strconv.ParseUint(f.First, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	address := first
	for i, step := range f.Step {
		address += step
		if got, want := f.Code[0].At[i], int(address-0x1000)/2; got != want {
			t.Errorf("address %#x is in instruction %d, want %d", address, got, want)
		}
	}
}

func TestNoCode(t *testing.T) {
	all, _ := codeOf(t, Options{Code: func(Binary, []string) ([]evidence.Code, error) { return nil, errors.New("it is gone") }})
	if v := all.Code; len(v.Functions) == 0 || v.Functions[0].Code != nil || !slices.Equal(v.Missing, []string{"program: it is gone"}) {
		t.Errorf("view %+v", v)
	}
}

// TestRest: what has no room on the page can be asked for, and nothing else.
func TestRest(t *testing.T) {
	read := func(_ Binary, functions []string) ([]evidence.Code, error) {
		if !slices.Contains(functions, "example.com/m/a.Parse") {
			return nil, nil
		}
		return []evidence.Code{parse()}, nil
	}
	o := Options{Code: read, MaxCode: 1, MaxSource: 1, Source: sourceOf}
	v, rest := codeOf(t, o)
	if v.Code.Left != len(v.Code.Functions) || v.SourceCut == 0 {
		t.Errorf("%d of %d functions without machine code for its size, %d without source", v.Code.Left, len(v.Code.Functions), v.SourceCut)
	}
	at := slices.IndexFunc(v.Code.Functions, func(f codeFunction) bool { return f.Name == "example.com/m/a.Parse" })
	f := func(got []byte, err error, want string) {
		t.Helper()
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("answer %.80s, %v, want %s", got, err, want)
		}
	}
	none := func(_ []byte, err error) {
		t.Helper()
		if !errors.Is(err, errNotThere) {
			t.Errorf("error %v, want %v", err, errNotThere)
		}
	}
	got, err := rest.Code(at)
	f(got, err, `"texts":["NOP"]`)
	got, err = rest.Code((at + 1) % len(v.Code.Functions))
	f(got, err, `"missing":"the machine code at hand`)
	none(rest.Code(-1))
	none(rest.Code(len(v.Code.Functions)))
	file := slices.Index(v.Flame.Files, "a/a.go")
	got, err = rest.Source(file, 20)
	f(got, err, `"part":{"first":3,"lines":["// Parse parses."`)
	none(rest.Source(file, 21)) // no sample stands there
	none(rest.Source(-1, 20))
	none(rest.Source(len(v.Flame.Files), 20))
	o.Source = func(string) ([]byte, error) { return nil, os.ErrNotExist }
	_, rest = codeOf(t, o)
	got, err = rest.Source(file, 20)
	f(got, err, `"missing":"its file is not`)
}

// TestRoom: a page that stands alone takes machine code until it has its size,
// the hottest first.
func TestRoom(t *testing.T) {
	o := Options{Report: report, Code: func(_ Binary, functions []string) ([]evidence.Code, error) {
		var out []evidence.Code
		for i, name := range functions {
			c := evidence.Code{Function: name}
			for k := range uint64(20_000) {
				c.Instructions = append(c.Instructions, evidence.Instruction{Address: 0x1000 + k, File: "a.go", Line: int(k), Text: fmt.Sprintf("JMP 0x%x%x", i, k)})
			}
			out = append(out, c)
		}
		return out, nil
	}}
	data, _, err := Data(small(t), o)
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Views views }
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(data) < 1_500_000 || len(data) > 3_000_000 || v.Views.Code.Left == 0 {
		t.Errorf("%d bytes, %d functions without machine code", len(data), v.Views.Code.Left)
	}
	last := true
	for _, f := range v.Views.Code.Functions {
		if (len(f.Code) > 0) && !last {
			t.Errorf("%s has its machine code, and a hotter one has not", f.Name)
		}
		last = len(f.Code) > 0
	}
}

func TestInstructionAt(t *testing.T) {
	list := []evidence.Instruction{{Address: 0x400}, {Address: 0x404}, {Address: 0x409}}
	f := func(address uint64, m evidence.Mapping, want int) {
		t.Helper()
		got, ok := instructionAt(list, address, &m)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("instructionAt(%#x, %+v) = %d, want %d", address, m, got, want)
		}
	}
	f(0x400, evidence.Mapping{}, 0)
	f(0x403, evidence.Mapping{}, 0)
	f(0x404, evidence.Mapping{}, 1)
	f(0x40a, evidence.Mapping{}, 2)
	f(0x3ff, evidence.Mapping{}, -1)
	f(0x500, evidence.Mapping{}, -1)
	// Mapped at 0x7f0000000000 from the byte 0x400 of the file on.
	f(0x7f0000000004, evidence.Mapping{Start: 0x7f0000000000, Offset: 0x400}, 1)
}
