package watch

import (
	"fmt"
	"reflect"
	"testing"
)

// TestLargeMap: the text of a map that is cut is the same each time.
func TestLargeMap(t *testing.T) {
	m := map[string][]string{}
	for i := range 3 * mostNodes {
		m[fmt.Sprint(i)] = []string{"a", "b", fmt.Sprint(i)}
	}
	s := &Session{}
	want := s.text(reflect.ValueOf(m), false)
	for range 5 {
		if got := s.text(reflect.ValueOf(m), false); got != want {
			t.Fatalf("%s, was %s", got, want)
		}
	}
}

// TestPlaces: where an object lies is not part of a text that names it; another number is.
func TestPlaces(t *testing.T) {
	text := func(v any) string { return new(Session).text(reflect.ValueOf(v), false) }
	if a, b := text("&{0xc000012340 1}"), text("&{0xc00009f008 1}"); a != b {
		t.Errorf("%s and %s differ", a, b)
	}
	if a, b := text("color 0x10ffee"), text("color 0x10ffef"); a == b {
		t.Errorf("%s stands for both", a)
	}
}
