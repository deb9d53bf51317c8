//go:build unix

package gateway

import (
	"os"
	"testing"
	"time"
)

// TestMain is also the pacer.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pace" {
		if err := Pace(4, Phase{Rate: 500, Duration: 200 * time.Millisecond}); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLoad(t *testing.T) {
	s := New(1 << 20)
	f := func(name string, l Load, least, most int) {
		t.Helper()
		phases := 0
		r := l.Run(s, func(begin bool) { phases++ })
		if r.Failed != nil || phases != 2 || len(r.Answers) < least || len(r.Answers) > most {
			t.Errorf("%s: %d answers, want %d to %d; measuring called %d times; %v", name, len(r.Answers), least, most, phases, r.Failed)
			return
		}
		for i, a := range r.Answers {
			// By the clock of the day, which is set now and then, a socket's request may seem to
			// come a little early.
			if a.Wait < -10*time.Millisecond || a.Latency < a.Wait || i > 0 && a.Latency < r.Answers[i-1].Latency {
				t.Fatalf("%s: answer %d: %+v", name, i, a)
			}
		}
		if tail := r.Tail(0.5); tail.Woken+tail.Queued+tail.Served < 0.999 {
			t.Errorf("%s: shares of the tail %+v do not make one", name, tail)
		}
	}
	phase := []Phase{{Rate: 500, Duration: 20 * time.Millisecond}, {Rate: 500, Duration: 200 * time.Millisecond, Measured: true}}
	f("timers", Load{Workers: 4, Phases: phase}, 99, 101)
	prepared := Load{Workers: 4, Phases: phase}
	prepared.Prepare()
	f("prepared", prepared, 99, 101)
	f("sockets", Load{Workers: 4, Phases: phase[1:], Sockets: Sockets{Program: os.Args[0], Arguments: []string{"pace"}}}, 99, 101)
	f("as fast as it goes", Load{Workers: 2, Phases: []Phase{{Duration: 50 * time.Millisecond, Measured: true}}}, 1, 1<<20)
}

func TestServiceStaysAsItIs(t *testing.T) {
	s := New(1 << 20)
	reachable := func() int {
		seen := map[*session]bool{}
		for _, x := range s.sessions {
			for ; x != nil && !seen[x]; x = x.next {
				seen[x] = true
			}
		}
		return len(seen)
	}
	s.Age()
	if got := reachable(); got != len(s.sessions) {
		t.Errorf("%d sessions live after each was renewed, want %d", got, len(s.sessions))
	}
	for i, x := range s.sessions {
		if x.id != i || follows(i) && x.next != s.sessions[i-1] {
			t.Fatalf("session %d: id %d, or not next to its neighbour", i, x.id)
		}
	}
}
