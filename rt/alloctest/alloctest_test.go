package alloctest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/rt/alloctest"
)

// report is a test that is not run: it keeps what would have failed.
type report struct {
	testing.TB
	text string
	note string
}

func (r *report) Helper()                      {}
func (r *report) Log(a ...any)                 { r.note += fmt.Sprint(a...) }
func (r *report) Errorf(text string, a ...any) { r.text += fmt.Sprintf(text, a...) }
func (r *report) Fatalf(text string, a ...any) { r.text += fmt.Sprintf(text, a...) }
func said(limit int, f func()) string          { r := &report{}; alloctest.Max(r, limit, f); return r.text }

var (
	sink  []byte
	small [3]*int8
	table map[string]int
)

//go:noinline
func twice(n int) {
	sink = make([]byte, n)
	sink = make([]byte, 2*n)
}

//go:noinline
func tiny() {
	for i := range small {
		small[i] = new(int8)
	}
}

// TestRace: with the race detector a note says that nothing is counted.
func TestRace(t *testing.T) {
	r := &report{}
	alloctest.Max(r, 0, func() { twice(100) })
	if noted := strings.Contains(r.note, "race detector"); noted != race || race && r.text != "" {
		t.Errorf("race %v: noted %q, reported %q", race, r.note, r.text)
	}
}

func TestMax(t *testing.T) {
	if race {
		t.Skip("nothing is counted with the race detector; the tests also run without it")
	}
	f := func(limit int, f func(), want ...string) {
		t.Helper()
		got := said(limit, f)
		if len(want) == 0 && got != "" {
			t.Errorf("limit %d: %s", limit, got)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("limit %d: lacks %q:\n%s", limit, w, got)
			}
		}
	}
	f(0, func() {})
	f(2, func() { twice(100) })
	f(1, func() { twice(100) }, "2 objects allocated, want at most 1:", "1 objects, 112 bytes:\n\tgithub.com/heaptrim/heaptrim/rt/alloctest_test.twice\n",
		"alloctest_test.go:33", "alloctest_test.go:34")
	f(3, tiny)
	f(2, tiny, "3 objects allocated, want at most 2:", "alloctest_test.go:40", "share blocks")
	// The first call is not counted.
	f(0, func() {
		if table == nil {
			table = map[string]int{"a": 1}
		}
	})
	f(-1, func() {}, "a limit of -1 objects")
}

// TestRate: the profile's rate is as it was.
func TestRate(t *testing.T) {
	before := runtime.MemProfileRate
	said(0, func() { twice(10) })
	if after := runtime.MemProfileRate; after != before {
		t.Errorf("runtime.MemProfileRate is %d, was %d", after, before)
	}
}

func ExampleMax() {
	var t testing.TB // of the test
	parse := func(text string) int { return len(text) }
	_ = func() {
		alloctest.Max(t, 0, func() { parse("a,b") })
	}
}
