package latency

import (
	"strings"
	"testing"
	"time"
)

// TestOrderOfGroups: groups are in the order of their time in memory management, which is what the page shows of them.
func TestOrderOfGroups(t *testing.T) {
	group := func(start string, assist, wait time.Duration) *Group {
		g := &Group{Start: start}
		g.Split[AssistCPU], g.Split[WaitMark] = assist, wait
		return g
	}
	groups := map[groupKey]*Group{}
	for _, g := range []*Group{group("waits", 1, 9), group("pays", 2, 0), group("neither", 0, 0), group("pays alike", 2, 1)} {
		groups[groupKey{start: g.Start}] = g
	}
	var got []string
	for _, g := range sortGroups(groups) {
		got = append(got, g.Start)
	}
	if want := "pays alike, pays, waits, neither"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
