package finding

import "testing"

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		trial Trial
		want  string
	}{
		{Trial{Before: Amount{5, 80}, After: Amount{2, 32}, Holds: true, Tested: true}, "5 → 2 allocs/op"},
		{Trial{Before: Amount{5, 80}, After: Amount{2, 32}, Holds: true}, "5 → 2 allocs/op, not tested"},
		{Trial{Before: Amount{5, 80}, After: Amount{5, 32}, Holds: true, Tested: true}, "80 → 32 B/op"},
		{Trial{Before: Amount{5, 80}, After: Amount{2, 320}}, "5 → 2 allocs/op, 80 → 320 B/op"},
		{Trial{Before: Amount{5, 80}, After: Amount{2, 32}, Fault: "a test fails with it"}, "a test fails with it"},
		{Trial{Before: Amount{2.48, 80}, After: Amount{1.25, 32}, Holds: true, Tested: true}, "2.48 → 1.25 allocs/op"},
	} {
		if got := c.trial.Counts(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.trial, got, c.want)
		}
	}
}

// TestProof: the open question of an edit follows the counts.
func TestProof(t *testing.T) {
	trial := Trial{Before: Amount{Allocs: 5}, After: Amount{Allocs: 2}, Holds: true, Tested: true}
	if got := trial.Proof(); got != "5 → 2 allocs/op" {
		t.Errorf("a safe edit: %q", got)
	}
	trial.Question = "`v` must not be nil"
	if got := trial.Proof(); got != "5 → 2 allocs/op; `v` must not be nil" {
		t.Errorf("an edit with a question: %q", got)
	}
}
