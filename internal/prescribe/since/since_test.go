package since

import "testing"

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		directive, text string
		want            bool
	}{
		{"1.16", "use slices.SortFunc", false},
		{"1.21", "use slices.SortFunc", true},
		{"1.21.3", "use slices.SortFunc", true},
		{"", "use slices.SortFunc", true},
		{"1.16", "of parts and slices. Then", true},
		{"1.16", "hand {maker} the map, not `slices.Of(x)`", true},
		{"1.25", "ask with errors.AsType (Go 1.26)", false},
		{"1.23", "use AppendBinary (Go 1.24) into a buffer", false},
		{"1.23", "use strings.Cut for one part, strings.SplitSeq (Go 1.24) for all", true},
		{"1.23", "use strings.FieldsSeq (Go 1.24)", false},
		{"1.19", "use utf16.AppendRune into a slice", false},
		{"1.19", "append the numbers with AppendUint16", true},
		{"1.17", "use ReadFromUDPAddrPort and Unmap", false},
		{"1.17", "make a netip.AddrPort the key", false},
	} {
		if got := Allows(c.directive, c.text); got != c.want {
			t.Errorf("%q in a module of go %s: %v, want %v", c.text, c.directive, got, c.want)
		}
	}
}

func TestWording(t *testing.T) {
	for directive, want := range map[string]string{"1.20": "delete all keys of `x.m`", "1.21": "clear `x.m`", "": "clear `x.m`", "x": "clear `x.m`"} {
		if got := Wording(directive, "clear `x.m`"); got != want {
			t.Errorf("in a module of go %s: %q, want %q", directive, got, want)
		}
	}
	for directive, want := range map[string]string{"1.22": "keep one timer, Stop and drain it, and Reset it", "1.23": "keep one timer and Reset it"} {
		if got := Wording(directive, "keep one timer and Reset it"); got != want {
			t.Errorf("in a module of go %s: %q, want %q", directive, got, want)
		}
	}
}
