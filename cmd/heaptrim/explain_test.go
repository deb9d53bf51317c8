package main

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
)

func TestEdits(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := edits(a, b); got != want {
			t.Errorf("edits(%q, %q) = %d, want %d", a, b, got, want)
		}
		if got := edits(b, a); got != want {
			t.Errorf("edits(%q, %q) = %d, want %d", b, a, got, want)
		}
	}
	f("", "", 0)
	f("", "abc", 3)
	f("kitten", "sitting", 3)
	f("pool-objct", "pool-object", 1)
	f("same", "same", 0)
}

func TestNearest(t *testing.T) {
	f := func(code, want string) {
		t.Helper()
		if got := nearest(code); got != want {
			t.Errorf("nearest(%q) = %q, want %q", code, got, want)
		}
	}
	f("pool-objct", "pool-object")
	f("presize_slice", "presize-slice")
	f("keep-on-the-stack", "keep-on-stack")
	f("x", "")
	f("", "")
	f(strings.Repeat("pool", 1000), "")
	for _, c := range cures.All() {
		f(c.Code, c.Code)
	}
}
