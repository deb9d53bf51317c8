package web

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// codeOf builds the view with machine code of the functions, eight instructions
// each, at the addresses that profiles of this package's own writer have.
func codeOf(t *testing.T, read func(Binary, []string) ([]evidence.Code, error)) codeView {
	t.Helper()
	data, err := Data(small(t), Options{Report: json.RawMessage(`{}`), Code: read})
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Views struct {
			Code codeView `json:"code"`
		} `json:"views"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v.Views.Code
}

func TestCode(t *testing.T) {
	var asked []string
	v := codeOf(t, func(b Binary, functions []string) ([]evidence.Code, error) {
		asked = functions
		if b.File != "program" || !slices.Equal(b.Runs, []string{"service"}) {
			t.Errorf("asked for %+v", b)
		}
		// The writer gives the locations of a profile the addresses 0x1001, 0x1002 …
		c := evidence.Code{Function: "example.com/m/a.Parse", File: "/src/a/a.go"}
		for i := range uint64(64) {
			c.Instructions = append(c.Instructions, evidence.Instruction{Address: 0x1000 + 2*i, File: "a.go", Line: 20 + int(i), Text: "NOP"})
		}
		return []evidence.Code{c, {Function: "main.main"}, {Function: "unasked", Instructions: c.Instructions}}, nil
	})
	if !slices.Contains(asked, "example.com/m/a.Parse") || !slices.Contains(asked, "main.main") {
		t.Errorf("asked for %q", asked)
	}
	if len(v.Functions) != 1 || v.Functions[0].Name != "example.com/m/a.Parse" || v.Functions[0].First != "1000" || v.Left == 0 || len(v.Missing) != 0 {
		t.Fatalf("view %+v", v)
	}
	f := v.Functions[0]
	cpu := f.Weights["cpu"]
	if len(f.Step) != 64 || len(cpu.At) == 0 || len(cpu.At) != len(cpu.Self) || len(cpu.At) != len(cpu.Total) {
		t.Fatalf("function %+v", f)
	}
	// 40 of the 100 samples that count ended on Parse itself.
	self := 0.0
	for i, x := range cpu.Self {
		self += x
		if cpu.Total[i] < x {
			t.Errorf("instruction %d: self %v, total %v", cpu.At[i], x, cpu.Total[i])
		}
	}
	if got := self * cpuUnit; got < 0.395 || got > 0.405 {
		t.Errorf("self %v of CPU, want 0.4", got)
	}
}

func TestNoCode(t *testing.T) {
	v := codeOf(t, func(Binary, []string) ([]evidence.Code, error) { return nil, errors.New("it is gone") })
	if len(v.Functions) != 0 || v.Left == 0 || !slices.Equal(v.Missing, []string{"program: it is gone"}) {
		t.Errorf("view %+v", v)
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
