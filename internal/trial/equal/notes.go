package equal

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
)

// seen are the notes of one process.
type seen struct {
	tests     map[string]string     // what calls of tests returned
	scenarios map[string][]observed // what scenarios showed, in order
	order     []string              // of scenarios
	found     []watch.Scenario
	races     map[string]string // by function
	hits      []int
	stopped   string            // the scenario in which the process ended; "" if it ended well
	function  string            // of the last scenario that began
	why       string            // as the guard has it
	ended     map[string]string // scenarios that ended processes, and how
	whole     bool
}

// observed is one note of a scenario.
type observed struct{ key, text string }

// readNotes reads what a process wrote, also if it ended early.
func readNotes(name string) (*seen, error) {
	s := &seen{ended: map[string]string{}, tests: map[string]string{}, scenarios: map[string][]observed{}, races: map[string]string{}}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	open := ""
	for lines.Scan() {
		var n watch.Note
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			break // cut short
		}
		open = s.add(n, open)
	}
	s.stopped = open
	return s, lines.Err()
}

// add files a note and returns the scenario that is open after it.
func (s *seen) add(n watch.Note, open string) string {
	id, rest, _ := strings.Cut(n.Key, " ")
	if name, late := strings.CutSuffix(n.Key, " late"); late {
		s.why = "late"
		return name
	}
	if name, large := strings.CutSuffix(n.Key, " large"); large {
		s.why = "large"
		return name
	}
	switch {
	case n.Key == "found":
		s.found = append(s.found, *n.Scenario)
		return ""
	case n.Key == "end":
		s.hits, s.whole = n.Hits, true
		return ""
	case id == "tests":
		s.tests[n.Key] = n.Text
	case id == "race" && strings.HasSuffix(n.Key, " begins"):
		return strings.TrimSuffix(n.Key, " begins")
	case id == "race":
		s.races[n.Key] = n.Text
		return ""
	case rest == "begins":
		s.function = n.Text
		if n.Scenario != nil {
			s.order = append(s.order, id)
		}
		return id
	case rest == "ends":
		return ""
	default:
		s.scenarios[id] = append(s.scenarios[id], observed{rest, n.Text})
	}
	return open
}
