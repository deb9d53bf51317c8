package watch

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a session.
const (
	mostScenario = 3 * time.Second // of CPU, for one
	mostLooking  = time.Second     // of CPU, for one while scenarios are looked for
	mostWaiting  = 5 * time.Second // for one, without CPU time
	// Waiting is counted in looks, not by the clock: on a busy machine, looks are late as well.
	lookEvery  = 50 * time.Millisecond
	mostMemory = 2 << 30 // of the process
	plainEach  = 30      // scenarios of a function that are kept whatever they reach
	plainAll   = 400     // of all functions together, at least

	mostBrief = 1500 * time.Millisecond // of CPU, for scenarios of which a sum is noted
)

// Drive calls the functions of the plan. It is called when the tests of the binary have run.
func (s *Session) Drive() {
	if s.out == nil || s.of.driving.Swap(true) {
		return
	}
	s.look()
	s.offline()
	debug.SetPanicOnFault(true)
	defer s.flush()
	if s.plan.Race {
		s.raceAll()
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	debug.SetMemoryLimit(mostMemory / 4)
	most := mostScenario
	if s.plan.Explore > 0 {
		most = mostLooking
	}
	w := s.guard(most)
	defer w.stop()
	list := s.plan.Scenarios
	if s.plan.Explore > 0 {
		s.listen()
		list = s.explore(w)
		for _, sc := range list {
			s.note(Note{Key: "found", Scenario: &sc})
		}
	} else {
		for _, sc := range list {
			s.replay(w, sc)
		}
		s.leaks(w, list)
	}
	s.note(Note{Key: "end", Hits: s.hits()})
}

func (s *Session) hits() []int {
	var out []int
	for i, h := range s.hit {
		if h != 0 {
			out = append(out, i)
		}
	}
	return out
}

// ID names a scenario.
func (sc Scenario) ID() string {
	return digest(fmt.Appendf(nil, "%s %s %x %v %v", sc.Function, sc.Captured, sc.Genome, sc.Exact, sc.Holds))
}

// replay plays a scenario and writes its notes.
func (s *Session) replay(w *guard, sc Scenario) {
	id := sc.ID()
	if s.left(sc, "") {
		return
	}
	s.note(Note{Key: id + " begins", Text: sc.Function, Scenario: &sc})
	w.begin(id)
	p := s.player(sc)
	p.prefix, p.brief = id+" ", sc.Brief
	p.play(sc)
	w.end()
	if sc.Brief {
		s.note(Note{Key: id + " " + Sum, Text: strconv.FormatUint(p.sum, 10)})
	}
	for _, n := range p.notes {
		s.note(n)
	}
	s.note(Note{Key: id + " ends"})
}

// finder looks for scenarios.
type finder struct {
	s     *Session
	w     *guard
	seen  []bool     // blocks that ran
	list  []Scenario // that reach what others do not, or are among the first
	exact int        // how many of them, at the beginning, are calls of tests alone
	brief []Scenario // others that call a changed function
	spent time.Duration
}

// explore looks for scenarios that reach different code, for as long as the plan allows.
func (s *Session) explore(w *guard) []Scenario {
	until := used() + s.plan.Explore
	f := finder{s: s, w: w, seen: make([]bool, len(s.hit))}
	for _, sc := range s.plan.Scenarios { // those that tests were seen to make, of functions that are not exported
		for _, k := range s.of.captured[sc.Function] {
			f.try(Scenario{Function: sc.Function, Captured: k.hash, Exact: true}, true)
		}
	}
	f.exact = len(f.list)
	for _, name := range s.plan.Drive {
		for _, k := range s.of.captured[name] {
			f.try(Scenario{Function: name, Captured: k.hash}, true)
		}
	}
	rng := dice(1)
	plain := max(plainAll, plainEach*len(s.plan.Drive))
	for turn := 0; used() < until && turn < 20_000 && len(s.plan.Drive) > 0; turn++ {
		name := s.plan.Drive[turn%len(s.plan.Drive)]
		if turn >= plain && turn%2 == 0 { // those that are nearest to the change stand first
			name = s.plan.Drive[rng.n(1+len(s.plan.Drive)/4)]
		}
		sc := Scenario{Function: name, Genome: rng.genome(), Holds: turn%3 == 0}
		if calls := s.of.captured[name]; len(calls) > 0 && turn%4 == 1 {
			sc.Captured = calls[rng.n(len(calls))].hash
		}
		if free := f.list[f.exact:]; turn > plain && turn%3 != 0 && len(free) > 0 {
			sc = rng.mutate(free[rng.n(len(free))], free)
		}
		f.try(sc, turn < plain)
	}
	return append(f.list, f.brief...)
}

// try plays a scenario and decides whether it is kept.
func (f *finder) try(sc Scenario, always bool) {
	if f.s.left(sc, "") {
		return
	}
	f.s.flushBegin(sc)
	f.w.begin(sc.ID())
	p, from := f.s.player(sc), used()
	p.quiet = true
	p.play(sc)
	f.w.end()
	more, reached, reaches := f.s.more(sc), f.fresh(), f.s.reaches()
	switch {
	case p.slow:
	case reached || always || more:
		f.list = append(f.list, sc)
	case reaches && f.spent < mostBrief:
		f.spent += used() - from
		sc.Brief, sc.Sum = true, p.sum
		f.brief = append(f.brief, sc)
	}
	if more && !sc.Holds { // what it shows may be memory of the changed function
		sc.Holds = true
		f.try(sc, true)
	}
}

// fresh reports whether blocks ran that had not run before.
func (f *finder) fresh() bool {
	found := false
	for i, h := range f.s.hit {
		if h != 0 && !f.seen[i] {
			f.seen[i], found = true, true
		}
	}
	return found
}

// flushBegin writes down which scenario begins, for the case that it ends the process.
func (s *Session) flushBegin(sc Scenario) {
	s.note(Note{Key: sc.ID() + " begins", Text: sc.Function})
}

// left reports whether a scenario is not to be played.
func (s *Session) left(sc Scenario, suffix string) bool {
	return slices.Contains(s.plan.Drop, sc.Function) || slices.Contains(s.plan.Skip, sc.ID()+suffix)
}

// dice draws genomes; the same ones in every process.
type dice uint64

func (d *dice) n(k int) int {
	x := uint64(*d)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*d = dice(x)
	return int((x >> 11) % uint64(k))
}

func (d *dice) genome() []byte {
	b := make([]byte, 0, 64)
	for range 6 + d.n(3) {
		b = binary.LittleEndian.AppendUint64(b, uint64(d.n(1<<52))|uint64(d.n(1<<12))<<52)
	}
	return b
}

// mutate changes a scenario at a few places, or joins it with another.
func (d *dice) mutate(sc Scenario, list []Scenario) Scenario {
	g := slices.Clone(sc.Genome)
	if len(g) == 0 {
		g = d.genome()
	}
	if d.n(4) == 0 {
		if o := list[d.n(len(list))]; len(o.Genome) > 0 {
			at := d.n(min(len(g), len(o.Genome)))
			g = append(g[:at:at], o.Genome[at:]...)
		}
	}
	for range 1 + d.n(4) {
		g[d.n(len(g))] = byte(d.n(256))
	}
	return Scenario{Function: sc.Function, Captured: sc.Captured, Genome: g, Holds: sc.Holds}
}

// leakSuffix makes of the name of a scenario that of its repetition.
const leakSuffix = "-repeated"

// leaks notes whether calls leave goroutines or open files behind.
func (s *Session) leaks(w *guard, list []Scenario) {
	const turns = 6
	done := map[string]int{}
	for _, sc := range list {
		if done[sc.Function]++; done[sc.Function] > 1 || sc.Exact || sc.Brief || s.left(sc, leakSuffix) {
			continue
		}
		s.note(Note{Key: sc.ID() + leakSuffix + " begins", Text: sc.Function})
		w.begin(sc.ID() + leakSuffix)
		routines, files := runtime.NumGoroutine(), openFiles()
		for range turns {
			p := s.player(sc)
			p.quiet = true
			p.play(sc)
		}
		for range 10 {
			if runtime.NumGoroutine() < routines+turns {
				break
			}
			runtime.GC()
			time.Sleep(5 * time.Millisecond)
		}
		s.note(Note{Key: sc.ID() + " leaves goroutines", Text: fmt.Sprint(runtime.NumGoroutine() >= routines+turns)})
		s.note(Note{Key: sc.ID() + " leaves files open", Text: fmt.Sprint(openFiles() >= files+turns)})
		w.end()
		s.note(Note{Key: sc.ID() + leakSuffix + " ends"})
	}
}

// openFiles is the number of open files, 0 where the system does not say.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// guard ends the process when a scenario takes too long or too much memory.
type guard struct {
	most time.Duration // of CPU, for one scenario
	s    *Session
	now  atomic.Pointer[string]
	cpu  atomic.Int64 // used before
	idle int          // looks since next to no CPU time was used
	then time.Duration
	quit chan struct{}
	wait sync.WaitGroup
}

func (s *Session) guard(most time.Duration) *guard {
	g := &guard{s: s, most: most, quit: make(chan struct{})}
	g.wait.Add(1)
	go func() {
		defer g.wait.Done()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-g.quit:
				return
			case <-tick.C:
				g.look()
			}
		}
	}()
	return g
}

func (g *guard) begin(id string) {
	g.s.flush()
	g.cpu.Store(int64(used()))
	g.now.Store(&id)
}

func (g *guard) end() { g.now.Store(nil) }

func (g *guard) stop() {
	close(g.quit)
	g.wait.Wait()
}

// little is what the guard itself may use of CPU time while everything else waits.
const little = 50 * time.Millisecond

func (g *guard) look() {
	id := g.now.Load()
	if id == nil {
		return
	}
	why := ""
	now := used()
	if started := time.Duration(g.cpu.Load()); g.then < started || now-g.then > little {
		g.idle, g.then = 0, now
	}
	g.idle++
	if now-time.Duration(g.cpu.Load()) > g.most || g.idle > int(mostWaiting/lookEvery) {
		why = "late"
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > mostMemory {
		why = "large"
	}
	if why != "" {
		g.s.note(Note{Key: *id + " " + why})
		g.s.flush()
		g.s.exit(exitGuard)
	}
}

// exitGuard is the status of a process that its guard ended.
const exitGuard = 97
