package equal

import "testing"

// Only a change that ends the process in a scenario that differs needs fewer runs: an end that both versions have says
// nothing of another difference.
func TestEnds(t *testing.T) {
	note := func(text string) []observed { return []observed{{"#1 F in", "1"}, {"#1 F out", text}} }
	run := func(a, b string, ended map[string]string) *seen {
		return &seen{order: []string{"a", "b"}, scenarios: map[string][]observed{"a": note(a), "b": note(b)}, ended: ended, whole: true}
	}
	both := map[string]string{"b": "ends the process"}
	for _, c := range []struct {
		name          string
		old, now      *seen
		differs, ends bool
	}{
		{"the same", run("1", "2", nil), run("1", "2", nil), false, false},
		{"another result", run("1", "2", nil), run("3", "2", nil), true, false},
		{"another result, and an end in both", run("1", "2", both), run("3", "2", both), true, false},
		{"an end", run("1", "2", nil), run("1", "2", both), true, true},
	} {
		old := []*seen{c.old, c.old}
		v := comparison{old: old, now: []*seen{c.now}}.into(Verdict{})
		if (v.Differs != "") != c.differs || v.ends != c.ends {
			t.Errorf("%s: differs %q, ends %v; want %v, %v", c.name, v.Differs, v.ends, c.differs, c.ends)
		}
	}
}
