package above

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

const sample = "heaptrim.above/1\n0x10 runtime.mallocgc runtime.growslice\n0x20\n0x30 runtime.mallocgc runtime.newobject\nend\n"

func TestReadWrite(t *testing.T) {
	calls, err := Read("a.txt", strings.NewReader(sample))
	want := Calls{0x10: {"runtime.mallocgc", "runtime.growslice"}, 0x20: {}, 0x30: {"runtime.mallocgc", "runtime.newobject"}}
	if err != nil || !maps.EqualFunc(calls, want, slices.Equal) {
		t.Fatalf("%v, %v, want %v", calls, err, want)
	}
	var out bytes.Buffer
	if err := calls.Write(&out); err != nil || out.String() != sample {
		t.Errorf("written: %q, %v", &out, err)
	}
	again, err := Read("a.txt", &out)
	if err != nil || !maps.EqualFunc(again, want, slices.Equal) {
		t.Errorf("read again: %v, %v", again, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    `a.txt:0: cut off`,
		"heaptrim.above/2\nend\n":             `a.txt:1: it begins with "heaptrim.above/2" instead of "heaptrim.above/1"`,
		"heaptrim.above/1\n0x10 runtime.m":    `a.txt:2: cut off: the last line is not "end"`,
		"heaptrim.above/1\n10 a\nend\n":       `a.txt:2: "10" is not an address`,
		"heaptrim.above/1\n0x1 a\n0x1 b\n":    `a.txt:3: the address 0x1 comes twice`,
		"heaptrim.above/1\n\nend\n":           `a.txt:2: an empty line`,
		"heaptrim.above/1\nend\n0x1 a\n":      `a.txt:3: there is more behind "end"`,
		"heaptrim.above/1\n0x1" + long + "\n": `a.txt:2: the line is too long`,
	} {
		_, err := Read("a.txt", strings.NewReader(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

var long = strings.Repeat(" runtime.x", maxLine/5)

// list is a source of samples.
type list []evidence.Sample

// Scan implements evidence.SampleSource.
func (l list) Scan(yield func(evidence.Sample) error) error {
	for _, s := range l {
		if err := yield(s); err != nil {
			return err
		}
	}
	return nil
}

func TestOver(t *testing.T) {
	at := func(i int, address uint64, function string) *evidence.Location {
		return &evidence.Location{Index: i, Address: address, Frames: []evidence.Frame{{Function: function}}}
	}
	f, g, m := at(0, 0x10, "p.f"), at(1, 0x40, "p.g"), at(2, 0x30, "p.main")
	p := &evidence.Profile{Locations: 3, Samples: list{{Stack: []*evidence.Location{f, m}}, {Stack: []*evidence.Location{g, m}}, {Stack: []*evidence.Location{m}}, {}}}
	calls, err := Read("a.txt", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	over := calls.Over(p)
	var got []string
	seen := make([]string, over.Locations) // an index past the end panics
	for range 2 {
		got = nil
		err = over.Samples.Scan(func(s evidence.Sample) error {
			var names []string
			for _, l := range s.Stack {
				if seen[l.Index] != "" && seen[l.Index] != l.Frames[0].Function {
					t.Errorf("location %d is %s and %s", l.Index, seen[l.Index], l.Frames[0].Function)
				}
				seen[l.Index] = l.Frames[0].Function
				names = append(names, l.Frames[0].Function)
			}
			got = append(got, strings.Join(names, " "))
			return nil
		})
	}
	want := []string{"runtime.mallocgc runtime.growslice p.f p.main", "p.g p.main", "runtime.mallocgc runtime.newobject p.main", ""}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("stacks %q, %v, want %q", got, err, want)
	}
	if len(f.Frames) != 1 || p.Locations != 3 {
		t.Error("the profile itself was changed")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("heaptrim.above/1\n0xffffffffffffffff \x00\nend"))
	f.Fuzz(func(t *testing.T, data []byte) {
		calls, err := Read("a.txt", bytes.NewReader(data))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := calls.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := Read("a.txt", &out)
		if err != nil || !maps.EqualFunc(again, calls, slices.Equal) {
			t.Errorf("%v, %v: want %v", again, err, calls)
		}
	})
}
