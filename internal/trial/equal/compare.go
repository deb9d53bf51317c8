package equal

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
)

// comparison holds the notes of several runs of both versions.
type comparison struct {
	old, now []*seen
}

// into compares the runs. What runs of one version do not agree on is not held against the other; a
// difference counts if the change shows in all of its runs what the package as it is shows in none.
func (c comparison) into(v Verdict) Verdict {
	v.Differs, v.Calls, v.TestCalls, v.ends = "", 0, 0, false
	for key, text := range c.old[0].tests {
		now, ok := c.now[0].tests[key]
		switch {
		case !ok:
		case now == text:
			v.TestCalls++
		case v.Differs == "" && c.steadyTests(key) && !c.elsewhere(key, now):
			v.Differs = fmt.Sprintf("%s: %s, was %s", key, now, text)
		}
	}
	known := c.appending()
	same, other := 0, 0
	for _, id := range c.old[0].order {
		n, differs := c.scenario(id, known)
		v.Calls += n
		switch {
		case differs != "":
			other++
			v.ends = v.ends || c.now[0].ended[id] != ""
			v.Differs = cmp.Or(v.Differs, differs)
		case n > 0:
			same++
		}
	}
	v.most = other > same && other >= mostCloser
	return v
}

// steadyTests reports whether all runs of either version agree on a note, and the versions do not.
func (c comparison) steadyTests(key string) bool {
	was, is := c.old[0].tests[key], c.now[0].tests[key]
	for _, s := range c.old {
		if t, ok := s.tests[key]; !ok || t != was {
			return false
		}
	}
	for _, s := range c.now {
		if t, ok := s.tests[key]; !ok || t == was {
			return false
		}
	}
	return is != was
}

// elsewhere reports whether another call of the tests with arguments that look the same showed a text in
// the package as it is: then only the order of the calls is another.
func (c comparison) elsewhere(key, text string) bool {
	call := key
	if i := strings.LastIndex(key, " #"); i >= 0 {
		call = key[:i+2]
	}
	for _, s := range c.old {
		for k, t := range s.tests {
			if t == text && strings.HasPrefix(k, call) {
				return true
			}
		}
	}
	return false
}

// appending are the notes of results that share memory behind their ends in the package as it is. Whether
// they do hangs on capacities there, so that it says nothing of a change.
func (c comparison) appending() map[string]bool {
	out := map[string]bool{}
	for _, s := range c.old {
		for _, list := range s.scenarios {
			for _, o := range list {
				if strings.HasPrefix(o.key, watch.Appending) {
					out[o.key] = true
				}
			}
		}
	}
	return out
}

// without leaves notes out.
func without(list []observed, keys map[string]bool) []observed {
	return slices.DeleteFunc(slices.Clone(list), func(o observed) bool { return keys[o.key] })
}

// scenario compares what one scenario showed, but for what is left out, and returns how many results agree.
func (c comparison) scenario(id string, leave map[string]bool) (agree int, differs string) {
	if text, ok := c.old[0].sum(id); ok { // see sums
		if is, _ := c.now[0].sum(id); is == text {
			agree = 1
		}
		return agree, ""
	}
	first := without(c.old[0].scenarios[id], leave)
	for _, s := range c.old[1:] {
		if s.ended[id] != "" || !slices.Equal(without(s.scenarios[id], leave), first) {
			return 0, ""
		}
	}
	for i, s := range c.now {
		if _, played := s.scenarios[id]; !played && !s.whole && s.ended[id] == "" {
			return 0, "" // too many others ended the process
		}
		n, d := walk(first, without(s.scenarios[id], leave))
		if how := s.ended[id]; how != "" {
			d = describe(first) + ": " + how
		}
		if i == 0 {
			agree, differs = n, d
		}
		if d == "" {
			return agree, ""
		}
	}
	return agree, differs
}

// sum returns the sum of a scenario for which only that was noted.
func (s *seen) sum(id string) (string, bool) {
	list := s.scenarios[id]
	if len(list) != 1 || list[0].key != watch.Sum {
		return "", false
	}
	return list[0].text, true
}

// mostCloser is how many scenarios whose sums differ are looked at closely.
const mostCloser = 24

// sums are the scenarios whose sums differ in the first runs, and were the same when they were found as when
// the package as it is played them again.
func (c comparison) sums(list []watch.Scenario) []string {
	var out []string
	for _, sc := range list {
		id := sc.ID()
		was, ok := c.old[0].sum(id)
		if is, _ := c.now[0].sum(id); ok && is != was && was == strconv.FormatUint(sc.Sum, 10) && len(out) < mostCloser {
			out = append(out, id)
		}
	}
	return out
}

// describe names the calls of a scenario.
func describe(list []observed) string {
	var calls []string
	for _, o := range list {
		if name, in := strings.CutSuffix(o.key, " in"); in {
			calls = append(calls, name+"("+o.text+")")
		}
	}
	return strings.Join(calls, "; ")
}

// walk compares the notes of a scenario one by one, for as long as the calls have the same arguments.
func walk(old, now []observed) (agree int, differs string) {
	call := ""
	for i := range max(len(old), len(now)) {
		switch {
		case i >= len(old):
			return agree, fmt.Sprintf("%s: %s: %s", call, now[i].key, now[i].text)
		case i >= len(now):
			return agree, fmt.Sprintf("%s: nothing, was %s: %s", call, old[i].key, old[i].text)
		case old[i].key != now[i].key:
			return agree, fmt.Sprintf("%s: %s: %s, was %s: %s", call, now[i].key, now[i].text, old[i].key, old[i].text)
		}
		name, in := strings.CutSuffix(old[i].key, " in")
		same := old[i].text == now[i].text
		switch {
		case in && !same:
			return agree, ""
		case in:
			call = name + "(" + old[i].text + ")"
		case !same:
			return agree, fmt.Sprintf("%s: %s: %s, was %s", call, now[i].key, now[i].text, old[i].text)
		case strings.HasSuffix(old[i].key, " out"):
			agree++
		}
	}
	return agree, ""
}

// reached counts the innermost blocks that hold the changed lines of functions, and those of them
// that ran.
func (w *work) reached(now *source, made *instrumented, hits []int) (ran, all int) {
	for _, name := range w.diff.changed {
		was, is := w.judged.decls[name], now.decls[name]
		from := now.fset.Position(is.Pos()).Line
		marked := map[int]bool{}
		for _, line := range changedLines(w.judged.lines(was), now.lines(is)) {
			if b := made.innermost(name, from+line); b >= 0 {
				marked[b] = true
			}
		}
		for b := range marked {
			all++
			if slices.Contains(hits, b) {
				ran++
			}
		}
	}
	return ran, all
}

// innermost is the number of the smallest block of a function that holds a line; -1 for none.
func (o *instrumented) innermost(function string, line int) int {
	best := -1
	for i, b := range o.blocks {
		if b.function != function || line < b.from || line > b.to {
			continue
		}
		if best < 0 || b.to-b.from <= o.blocks[best].to-o.blocks[best].from {
			best = i
		}
	}
	return best
}

// lines are the lines of a function, without indentation.
func (s *source) lines(fn *ast.FuncDecl) []string {
	from, to := s.fset.Position(fn.Pos()), s.fset.Position(fn.End())
	for _, f := range s.files {
		if f.name == from.Filename {
			list := strings.Split(string(f.text[from.Offset:to.Offset]), "\n")
			for i, l := range list {
				list[i] = strings.TrimSpace(l)
			}
			return list
		}
	}
	return nil
}

// changedLines are the places of the lines of b that a longest common sequence with a does not
// have; of lines that were only taken out, the one that follows.
func changedLines(a, b []string) []int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []int
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j < len(b) && (i == len(a) || common[i][j+1] >= common[i+1][j]):
			out = append(out, j)
			j++
		default:
			out = append(out, min(j, len(b)-1))
			i++
		}
	}
	return slices.Compact(out)
}
