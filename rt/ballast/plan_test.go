package ballast

import (
	"math"
	"math/rand/v2"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

func TestPlan(t *testing.T) {
	f := func(name string, p policy, s state, want plan) {
		t.Helper()
		if p.minGOGC == 0 {
			p.minGOGC = 50
		}
		if got := p.plan(s); got != want {
			t.Errorf("%s: plan = %+v, want %+v", name, got, want)
		}
	}
	const none = math.MaxInt64
	above := func(need int64) int64 { return int64(float64(need) / (1 - slack)) } // what a limit makes way to

	f("a ballast that is all object leaves GOGC alone", policy{mode: Classic, ballast: gib}, state{live: 200 * mib, object: gib},
		plan{gogc: 100, limit: none, goal: 400*mib + gib})
	f("a ballast without object is a GOGC", policy{mode: Classic, ballast: gib}, state{live: 256 * mib},
		plan{gogc: 500, limit: none, goal: 512*mib + gib})
	f("10 GiB, of which 2 are object", policy{mode: Classic, ballast: 10 * gib}, state{live: 256 * mib, object: 2 * gib},
		plan{gogc: 456, limit: none, goal: 512*mib + 10*gib})
	f("headroom", policy{mode: Steer, headroom: gib}, state{live: 512 * mib, roots: 512 * mib},
		plan{gogc: 100, limit: none, goal: 512*mib + gib})
	f("headroom below the least room", policy{mode: Steer, headroom: 10 * mib}, state{live: 100 * mib},
		plan{gogc: 50, limit: none, goal: 150 * mib})
	f("memory bounds headroom", policy{mode: Steer, headroom: 10 * gib, memory: gib}, state{live: 100 * mib, beside: 20 * mib},
		plan{gogc: 843, limit: gib, goal: within(gib, slack) - 20*mib})
	f("a tiny heap: the 4 MiB minimum times GOGC is the goal", policy{mode: Auto, memory: gib}, state{live: mib},
		plan{gogc: 24064, limit: gib, goal: within(gib, slack)})
	f("nothing to aim for", policy{mode: Auto}, state{live: 100 * mib}, plan{limit: none, goal: none})
	f("limit", policy{mode: Limit, memory: gib}, state{live: 100 * mib, object: 0},
		plan{gogc: gogcOff, limit: gib, goal: within(gib, slack)})

	short := state{live: 100 * mib, beside: 10 * mib}
	f("short memory: room of MinGOGC, and the limit makes way", policy{mode: Auto, memory: 120 * mib}, short,
		plan{gogc: 50, limit: above(160 * mib), goal: 150 * mib, short: true})
	f("short memory in mode limit", policy{mode: Limit, memory: 120 * mib}, short,
		plan{gogc: gogcOff, limit: above(160 * mib), goal: 150 * mib, short: true})
	tight := func(hard int64) int64 { return within(within(hard, hardSlack), limitSlack) - 10*mib }
	f("a hard limit comes before MinGOGC, and is the runtime's to hold", policy{mode: Auto, memory: 120 * mib, hard: 144 * mib}, short,
		plan{gogc: 50, limit: within(144*mib, hardSlack), goal: tight(144 * mib), short: true})
	f("even if it has no room at all", policy{mode: Auto, memory: 100 * mib, hard: 101 * mib}, short,
		plan{gogc: 50, limit: within(101*mib, hardSlack), goal: 100 * mib, short: true})
	foreign := state{live: 100 * mib, beside: 200 * mib, foreign: 190 * mib}
	f("or memory from C has all of it", policy{mode: Auto, memory: 100 * mib, hard: 110 * mib}, foreign,
		plan{gogc: 50, limit: minBytes, goal: 100 * mib, short: true})
	f("memory that suffices is all used, and no more", policy{mode: Auto, memory: 200 * mib, hard: 220 * mib}, short,
		plan{gogc: 78, limit: 200 * mib, goal: within(200*mib, slack) - 10*mib})
	short.level = fair
	f("after an alarm GOGC=100", policy{mode: Auto, memory: 120 * mib}, short,
		plan{gogc: 100, limit: above(210 * mib), goal: 200 * mib, short: true})
	f("within the hard limit", policy{mode: Auto, memory: 120 * mib, hard: 200 * mib}, short,
		plan{gogc: 100, limit: within(200*mib, hardSlack), goal: tight(200 * mib), short: true})
}

// TestPlanStaysSane tries random states, absurd ones among them.
func TestPlanStaysSane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	size := func() int64 {
		if r.IntN(4) == 0 {
			return 0
		}
		return r.Int64N(1 << (10 + r.IntN(36)))
	}
	for range 200_000 {
		p := policy{mode: Mode(r.IntN(4)), ballast: size(), headroom: size(), memory: size(), hard: size(), minGOGC: 10 + r.IntN(200)}
		s := state{live: size(), roots: size() / 8, beside: size(), object: size(), level: level(r.IntN(2))}
		got := p.plan(s)
		switch {
		case got.none():
		case got.gogc != gogcOff && (got.gogc < 1 || got.gogc > highestGOGC):
			t.Fatalf("%+v of %+v: GOGC=%d", p, s, got.gogc)
		case got.goal < s.live:
			t.Fatalf("%+v of %+v: goal %d is below the live heap", p, s, got.goal)
		case got.gogc != gogcOff && s.live > heapMinimum && s.goal(got.gogc) < s.room(lowestGOGC)-(s.live+s.roots+s.object)/100:
			t.Fatalf("%+v of %+v: GOGC=%d leaves no room above the live heap", p, s, got.gogc)
		case got.limit < minBytes:
			t.Fatalf("%+v of %+v: limit %d", p, s, got.limit)
		case p.hard > 0 && got.limit != math.MaxInt64 && got.limit > max(minBytes, p.hard+s.object):
			t.Fatalf("%+v of %+v: limit %d is above the one that kills", p, s, got.limit)
		case p.memory > 0 && p.hard == 0 && got.limit < got.goal+s.beside-s.foreign+s.object:
			t.Fatalf("%+v of %+v: limit %d is below what goal %d needs", p, s, got.limit, got.goal)
		}
	}
}

func TestNear(t *testing.T) {
	steer := policy{mode: Auto, memory: gib, minGOGC: 50}
	s := state{live: 100 * mib}
	p := steer.plan(s)
	f := func(gogc int, want bool) {
		t.Helper()
		if got, _ := p.near(s, gogc, p.limit); got != want {
			t.Errorf("%+v: near(%d) = %v, want %v; the plan is %d", s, gogc, got, want, p.gogc)
		}
	}
	f(p.gogc, true)
	f(p.gogc+10, true)
	f(p.gogc-10, true)
	f(p.gogc+40, false)
	f(p.gogc-40, false)
	f(gogcOff, false)

	// In a heap below the minimum, GOGC is a multiple of that: also before the first
	// collection, which is the first to tell what is live.
	for _, s = range []state{{}, {live: 100 << 10}, {object: 64 * mib}} {
		p = steer.plan(s)
		f(p.gogc, true)
		f(p.gogc-p.gogc/100, true)
		f(p.gogc/2, false)
		f(100, false)
	}
}
