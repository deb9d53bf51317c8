package objdump

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

const text = `TEXT main.work(SB) /src/main.go
  main.go:4		0x4881a0		493b6610		CMPQ SP, 0x10(R14)				
  main.go:4		0x4881a4		0f8645010000		JBE 0x4882ef					

TEXT slices.Sort[go.shape.struct { main.a int }](SB) /usr/lib/go/src/slices/sort.go
  zsort.go:12		0x488200		90			NOPL						
  :0			0x488201		c3			RET
`

func read(t *testing.T, in string) ([]evidence.Code, error) {
	t.Helper()
	var out []evidence.Code
	err := Read("in", strings.NewReader(in), func(f evidence.Code) error {
		out = append(out, f)
		return nil
	})
	return out, err
}

func TestRead(t *testing.T) {
	got, err := read(t, text)
	i := func(address uint64, file string, line int, text string) evidence.Instruction {
		return evidence.Instruction{Address: address, File: file, Line: line, Text: text}
	}
	want := []evidence.Code{
		{Function: "main.work", File: "/src/main.go", Instructions: []evidence.Instruction{i(0x4881a0, "main.go", 4, "CMPQ SP, 0x10(R14)"), i(0x4881a4, "main.go", 4, "JBE 0x4882ef")}},
		{Function: "slices.Sort[go.shape.struct { main.a int }]", File: "/usr/lib/go/src/slices/sort.go", Instructions: []evidence.Instruction{i(0x488200, "zsort.go", 12, "NOPL"), i(0x488201, "", 0, "RET")}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %+v, %v, want %+v", got, err, want)
	}
	if got, err := read(t, ""); len(got) != 0 || err != nil {
		t.Errorf("an empty text gives %v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := Read("in", strings.NewReader(text), func(evidence.Code) error { return stop }); err != stop {
		t.Errorf("Read = %v, want yield's error", err)
	}
}

func TestHostile(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		_, err := read(t, in)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", in, err, want)
		}
	}
	f("x.go:1\t0x1\t90\tNOP", "in:1: an instruction before")
	f("TEXT nothing", "in:1: a TEXT line without")
	f("TEXT f(SB) f.go\nx.go\t0x1\t90\tNOP", "in:2: no FILE:LINE")
	f("TEXT f(SB) f.go\nx.go:-1\t0x1\t90\tNOP", `line "-1"`)
	f("TEXT f(SB) f.go\nx.go:1\t1\t90\tNOP", `address "1"`)
	f("TEXT f(SB) f.go\nx.go:1\t0xg\t90\tNOP", "address")
	f("TEXT f(SB) f.go\nx.go:1\t0x1\t90\t", "no instruction")
	if _, err := read(t, "TEXT f(SB) f.go\n"+strings.Repeat("x", maxLine+1)); err == nil {
		t.Error("a line without end is no error")
	}
}

// FuzzRead holds that no text makes the reader panic, and that it gives an
// instruction an address and a text.
func FuzzRead(f *testing.F) {
	f.Add(text)
	f.Add("TEXT f(SB) f.go\nx.go:1\t0x1\t90\tNOP")
	f.Fuzz(func(t *testing.T, in string) {
		_ = Read("in", strings.NewReader(in), func(fn evidence.Code) error {
			for _, i := range fn.Instructions {
				if i.Text == "" || i.Line < 0 {
					t.Errorf("%q gives %+v", in, i)
				}
			}
			return nil
		})
	})
}
