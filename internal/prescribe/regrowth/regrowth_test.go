package regrowth

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// TestReached: the last blocks of slices that all went through the smaller sizes.
func TestReached(t *testing.T) {
	for _, c := range []struct {
		sizes []finding.SizeCount
		elem  int64
		want  string
	}{
		{[]finding.SizeCount{{Size: 16, Objects: 10}, {Size: 32, Objects: 10}, {Size: 64, Objects: 10}}, 16, " (here 4)"},
		{[]finding.SizeCount{{Size: 16, Objects: 10}, {Size: 32, Objects: 7}, {Size: 64, Objects: 5}}, 16, " (here 1 to 4)"},
		{[]finding.SizeCount{{Size: 16, Objects: 100}, {Size: 32, Objects: 1}}, 16, " (here 1)"},
		{[]finding.SizeCount{{Size: 16, Objects: 1}}, 0, ""},
		{[]finding.SizeCount{{Size: 16, Objects: 10}}, 24, ""},
		{nil, 8, ""},
	} {
		if got := Reached(c.sizes, c.elem); got != c.want {
			t.Errorf("%v of %d bytes: %q, want %q", c.sizes, c.elem, got, c.want)
		}
	}
}

// TestAlike: a size serves most slices, or few of them.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		sizes []finding.SizeCount
		want  bool
	}{
		{[]finding.SizeCount{{Size: 16, Objects: 10}, {Size: 32, Objects: 10}, {Size: 64, Objects: 10}}, true},
		{[]finding.SizeCount{{Size: 16, Objects: 10}, {Size: 32, Objects: 7}, {Size: 64, Objects: 5}}, true},
		{[]finding.SizeCount{{Size: 16, Objects: 10}, {Size: 32, Objects: 7}, {Size: 64, Objects: 5}, {Size: 128, Objects: 5}}, false},
	} {
		if got := Alike(c.sizes); got != c.want {
			t.Errorf("%v: %v, want %v", c.sizes, got, c.want)
		}
	}
}
