package budget

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is what happens to a benchmark that has no figure to compare.
type Rule string

// The rules.
const (
	Fail  Rule = "fail"
	Warn  Rule = "warn"
	Adopt Rule = "adopt" // the file is changed, without a word that the run fails for
)

// Event is why a benchmark has no figure to compare.
type Event string

// The events.
const (
	New     Event = "new"     // it has no line
	Renamed Event = "renamed" // it has no line, and allocates exactly what one that is gone did
	Deleted Event = "deleted" // the line has no benchmark
	Skipped Event = "skipped" // it called Skip
	Failing Event = "failing" // it fails, or its package does not build
	Shrunk  Event = "shrunk"  // it allocates less than its line
)

// Rules are the rules that a file states; what it does not state is as by default.
type Rules map[Event]Rule

// defaults lists the events, in the order of the documentation, with their rules. Benchmarks that
// skip themselves or fail cannot be adopted: there is nothing to write.
var defaults = []struct {
	event Event
	rule  Rule
	adopt bool
}{
	{New, Warn, true},
	{Renamed, Warn, true},
	{Deleted, Fail, true},
	{Skipped, Warn, false},
	{Failing, Fail, false},
	{Shrunk, Warn, true},
}

// Of is the rule for an event.
func (r Rules) Of(e Event) Rule {
	if rule, ok := r[e]; ok {
		return rule
	}
	for _, d := range defaults {
		if d.event == e {
			return d.rule
		}
	}
	return Fail
}

// set reads EVENT=RULE.
func (r Rules) set(text string) error {
	event, rule, _ := strings.Cut(text, "=")
	for _, d := range defaults {
		if string(d.event) != event {
			continue
		}
		allowed := []string{string(Fail), string(Warn)}
		if d.adopt {
			allowed = append(allowed, string(Adopt))
		}
		if !slices.Contains(allowed, rule) {
			return fmt.Errorf("rule %s: want %s=%s", clip(text), event, strings.Join(allowed, "|"))
		}
		r[d.event] = Rule(rule)
		return nil
	}
	return fmt.Errorf("rule %s: want one of new, renamed, deleted, skipped, failing, shrunk", clip(text))
}

// ParseRules reads rules such as "new=fail,deleted=warn".
func ParseRules(text string) (Rules, error) {
	r := Rules{}
	for item := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		if err := r.set(item); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// String is how the rules are written in the file.
func (r Rules) String() string {
	var parts []string
	for _, d := range defaults {
		if rule, ok := r[d.event]; ok {
			parts = append(parts, string(d.event)+"="+string(rule))
		}
	}
	return strings.Join(parts, " ")
}
