package prove

import (
	"fmt"
	"math"
	"strings"
)

// verdicts sums up all comparisons, and those of each side but A alone.
func verdicts(cs []Comparison, sides int) (all Verdict, each []Verdict) {
	all.Counts = map[Outcome]int{}
	var sentences []string
	for side := 1; side < sides; side++ {
		var own []Comparison
		for _, c := range cs {
			if c.Side == side {
				own = append(own, c)
			}
		}
		v := verdict(own, Letter(side))
		if sides > 2 && !strings.HasPrefix(v.Sentence, Letter(side)+" is ") {
			v.Sentence = Letter(side) + ": " + v.Sentence
		}
		each, sentences = append(each, v), append(sentences, v.Sentence)
		for o, n := range v.Counts {
			all.Counts[o] += n
		}
	}
	all.Outcome, all.Sentence = together(each), strings.Join(sentences, " ")
	return all, each
}

// together is the outcome of several verdicts.
func together(each []Verdict) Outcome {
	seen := map[Outcome]bool{}
	for _, v := range each {
		seen[v.Outcome] = true
	}
	switch {
	case seen[Mixed], seen[Better] && seen[Worse]:
		return Mixed
	case seen[Worse]:
		return Worse
	case seen[Better]:
		return Better
	case seen[Unclear]:
		return Unclear
	case seen[Same]:
		return Same
	}
	return Incomparable
}

// verdict sums up all benchmarks of one side, which is called by its letter.
func verdict(cs []Comparison, b string) Verdict {
	v := Verdict{Counts: map[Outcome]int{}}
	for _, c := range cs {
		v.Counts[c.Outcome]++
	}
	better, worse := v.Counts[Better]+v.Counts[Mixed], v.Counts[Worse]+v.Counts[Mixed]
	switch {
	case better > 0 && worse > 0:
		v.Outcome = Mixed
		v.Sentence = fmt.Sprintf("%s is worse in %s, and better in %s.", b, tellMost(cs, Worse), tellMost(cs, Better))
	case worse > 0:
		v.Outcome = Worse
		v.Sentence = fmt.Sprintf("%s is worse: %s.", b, tellMost(cs, Worse))
	case better > 0:
		v.Outcome = Better
		v.Sentence = fmt.Sprintf("%s is better: %s; none is worse.", b, tellMost(cs, Better))
		if len(cs) == 1 {
			v.Sentence = fmt.Sprintf("%s is better: %s.", b, tellMost(cs, Better))
		}
	case v.Counts[Unclear] > 0:
		v.Outcome = Unclear
		v.Sentence = unclearSentence(cs, v.Counts[Unclear])
	case v.Counts[Same] > 0:
		v.Outcome = Same
		v.Sentence = fmt.Sprintf("No difference in %s%s.", plural(v.Counts[Same], "benchmark"), within(cs))
		if len(cs) == 1 {
			v.Sentence = fmt.Sprintf("No difference%s.", within(cs))
		}
	default:
		v.Outcome = Incomparable
		v.Sentence = "Nothing could be compared."
	}
	if n := v.Counts[Incomparable]; n > 0 && v.Outcome != Incomparable {
		v.Sentence += fmt.Sprintf(" %s cannot be compared.", plural(n, "benchmark"))
	}
	return v
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// tellMost counts the benchmarks with an outcome and tells the largest change
// of them.
func tellMost(cs []Comparison, o Outcome) string {
	n, most, text := 0, -1.0, ""
	for _, c := range cs {
		hit := false
		if o == Worse && c.Failed[1] != "" && c.Failed[0] == "" {
			hit, most, text = true, math.Inf(1), c.Name+" fails"
		}
		for _, ch := range c.Changes {
			if ch.Outcome != o {
				continue
			}
			hit = true
			size := math.Abs(math.Log1p(ch.Delta.Value))
			if math.IsNaN(size) {
				size = math.Inf(1)
			}
			if size > most {
				most, text = size, c.Name+" "+ch.describe()
			}
		}
		if hit {
			n++
		}
	}
	if len(cs) == 1 {
		return tellAll(cs[0], o, text)
	}
	if n == 1 {
		return fmt.Sprintf("1 of %s (%s)", plural(len(cs), "benchmark"), text)
	}
	return fmt.Sprintf("%d of %s (most: %s)", n, plural(len(cs), "benchmark"), text)
}

// tellAll lists the changes of the only benchmark.
func tellAll(c Comparison, o Outcome, otherwise string) string {
	var parts []string
	for _, ch := range c.Changes {
		if ch.Outcome == o {
			parts = append(parts, ch.describe())
		}
	}
	if len(parts) == 0 {
		return otherwise
	}
	return strings.Join(parts, ", ")
}

// unclearSentence says what is known when nothing is called.
func unclearSentence(cs []Comparison, unclear int) string {
	counted, equal := 0, 0
	for _, c := range cs {
		for _, ch := range c.Changes {
			if ch.Count && ch.Judged {
				counted++
				if ch.Outcome == Same {
					equal++
				}
			}
		}
	}
	s := "No difference could be called"
	if counted > 0 && equal == counted {
		s = "Allocations are the same"
	}
	if len(cs) == 1 {
		return fmt.Sprintf("%s; the runs cannot tell more%s.", s, within(cs))
	}
	return fmt.Sprintf("%s, but the runs cannot tell for %d of %s%s.", s, unclear, plural(len(cs), "benchmark"), within(cs))
}

// within says how far what varies can still be off, where that is known.
func within(cs []Comparison) string {
	most, unit := 0.0, ""
	for _, c := range cs {
		for _, ch := range c.Changes {
			if !ch.Judged || ch.Count || c.Outcome == Incomparable {
				continue
			}
			far := math.Max(math.Abs(ch.Delta.Low), math.Abs(ch.Delta.High))
			if math.IsNaN(far) || math.IsInf(far, 0) {
				return ""
			}
			if far > most {
				most, unit = far, ch.Label
			}
		}
	}
	if unit == "" {
		return ""
	}
	return fmt.Sprintf(": %s differs by less than %.1f %%", unit, most*100)
}
