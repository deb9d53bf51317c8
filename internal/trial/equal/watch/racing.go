package watch

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
)

// raceAll calls each function from several goroutines: with objects of their own, and with one
// that they share. The notes say whether results differ from those of one goroutine, and whether the
// race detector, if the binary has it, reports anything.
func (s *Session) raceAll() {
	w := s.guard(20 * mostRacing)
	defer w.stop()
	for _, name := range s.raced() {
		if slices.Contains(s.plan.Drop, name) {
			continue
		}
		var list []Scenario
		for _, sc := range s.plan.Scenarios {
			if sc.Function == name && len(list) < 12 {
				list = append(list, sc)
			}
		}
		s.raceOne(w, "race "+name, func() string { return s.apart(list) })
		s.raceOne(w, "race on one object "+name, func() string { return s.together(name, list) })
	}
	s.note(Note{Key: "end"})
}

// raced are the functions that are called from several goroutines: those that were changed and that only
// the package calls, and those that are nearest to them.
func (s *Session) raced() []string {
	out := slices.Clone(s.plan.Drive[:min(len(s.plan.Drive), mostRaced)])
	for _, sc := range s.plan.Scenarios {
		if sc.Exact && !slices.Contains(out, sc.Function) {
			out = append(out, sc.Function)
		}
	}
	return out
}

func (s *Session) raceOne(w *guard, id string, run func() string) {
	if slices.Contains(s.plan.Skip, id) {
		return
	}
	s.note(Note{Key: id + " begins"})
	w.begin(id)
	before := races()
	text := run()
	if races() > before {
		text = DataRace
	}
	w.end()
	s.note(Note{Key: id, Text: text})
}

// What is noted of functions that are not to be called from several goroutines at once.
const (
	DataRace      = "data race"
	ResultsDiffer = "results differ"
)

const (
	goroutines = 4
	mostRaced  = 5                      // functions
	mostRacing = 500 * time.Millisecond // of CPU, after which no further scenario is begun
)

// apart plays scenarios in several goroutines at once, and says whether all saw the same as one alone.
func (s *Session) apart(list []Scenario) string {
	text := "same"
	until := used() + mostRacing
	for _, sc := range list {
		if used() > until {
			break
		}
		alone := s.seen(sc)
		if alone != s.seen(sc) {
			continue // it depends on more than its arguments
		}
		var wg sync.WaitGroup
		var differ sync.Once
		wg.Add(goroutines)
		for range goroutines {
			go func() {
				defer wg.Done()
				for turn := 0; turn < 4 && (turn == 0 || used() < until); turn++ {
					if s.seen(sc) != alone {
						differ.Do(func() { text = ResultsDiffer })
					}
				}
			}()
		}
		wg.Wait()
	}
	return text
}

// seen is everything that a scenario notes.
func (s *Session) seen(sc Scenario) string {
	p := s.player(sc)
	p.play(sc)
	return fmt.Sprint(p.notes)
}

// together calls one function on one receiver from several goroutines.
func (s *Session) together(name string, list []Scenario) string {
	f := s.funcs[name]
	if f == nil || len(f.in) == 0 {
		return "no object"
	}
	until := used() + mostRacing
	for _, sc := range list {
		if used() > until {
			break
		}
		p := s.player(sc)
		p.quiet = true
		var args []reflect.Value
		if sc.Captured != "" {
			args = s.copyOf(f, sc.Captured)
		}
		if args == nil {
			args = p.arguments(f, 0)
		}
		if !p.isObject(args[0]) {
			continue
		}
		var wg sync.WaitGroup
		wg.Add(goroutines)
		for i := range goroutines {
			mine := s.player(Scenario{Function: name, Genome: []byte(fmt.Sprint("goroutine ", i))})
			mine.quiet = true
			go func() {
				defer wg.Done()
				for turn := 0; turn < 25 && (turn == 0 || used() < until); turn++ {
					list := mine.arguments(f, 0)
					list[0] = args[0]
					f.call(list)
				}
			}()
		}
		wg.Wait()
	}
	return "ran"
}
