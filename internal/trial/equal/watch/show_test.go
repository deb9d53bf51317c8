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
