package watch

import (
	"reflect"
	"slices"
	"sync"
)

// mostInputs is how many different arguments of one changed function scenarios are kept for.
const mostInputs = 1000

// inputs are the arguments that changed functions were called with while scenarios were looked for.
type inputs struct {
	mu    sync.Mutex
	seen  map[string]map[string]bool // by function, hashes
	fresh bool                       // the scenario that is played has a new one
	all   bool                       // whether a changed function is called cannot be seen
	calls bool                       // the scenario that is played calls a changed function
}

// listen makes the wrappers of changed functions note their arguments.
func (s *Session) listen() {
	s.of.inputs.seen = map[string]map[string]bool{}
	for _, name := range s.plan.Near.Functions {
		if w := s.of.watched[name]; w != nil && w.wrapped {
			s.of.inputs.seen[name] = map[string]bool{}
			s.on[w.number] = true
		} else {
			s.of.inputs.all = true
		}
	}
}

// input notes the arguments of a call of a changed function.
func (s *Session) input(name string, args []any) {
	i := &s.of.inputs
	i.mu.Lock()
	seen := i.seen[name]
	full := seen == nil || len(seen) >= mostInputs
	i.calls = i.calls || seen != nil
	i.mu.Unlock()
	if full {
		return
	}
	var all []byte
	for _, a := range args {
		if a != nil {
			all = append(append(all, s.text(reflect.ValueOf(a), false)...), 0)
		}
	}
	hash := digest(all)
	i.mu.Lock()
	defer i.mu.Unlock()
	if !seen[hash] {
		seen[hash], i.fresh = true, true
	}
}

// reaches reports whether the scenario that was played called a changed function.
func (s *Session) reaches() bool {
	i := &s.of.inputs
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.calls
	i.calls = false
	return was || i.all
}

// more reports whether the scenario that was played called a changed function with new arguments. It is
// one that callers cannot call: the arguments of others are many anyway.
func (s *Session) more(sc Scenario) bool {
	i := &s.of.inputs
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.fresh
	i.fresh = false
	return was && !slices.Contains(s.plan.Near.Functions, sc.Function)
}
