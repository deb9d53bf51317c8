package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// said is one row of advice.
type said struct {
	Code string       `json:"code"`
	Site corpus.Named `json:"site"`
	Text string       `json:"text"`
	Rule string       `json:"rule,omitempty"`
	Hit  bool         `json:"hit,omitempty"`  // the place that was changed
	Fits bool         `json:"fits,omitempty"` // with a cure of the kind that was applied
	// Unsure is the best cure of those that fit and are not named, as their rules were wrong too often.
	Unsure *said `json:"unsure,omitempty"`
}

// rated is what the rates are about: what is named, or would be, were it sure.
func (s said) rated() said {
	if s.Unsure != nil {
		return *s.Unsure
	}
	return s
}

// row is what was said of one case.
type row struct {
	ID      string `json:"id"`
	Module  string `json:"module"` // repository
	Control bool   `json:"control,omitempty"`
	Cure    string `json:"cure,omitempty"` // that people applied
	Site    int    `json:"site,omitempty"` // rank of the place that was changed; 0: not found
	Right   int    `json:"right,omitempty"`
	Covered bool   `json:"covered,omitempty"` // a cure is named for the place
	Advice  int    `json:"advice"`            // rows that name a cure
	Amounts []held `json:"amounts,omitempty"` // objects and bytes that the right row predicts
	First   []said `json:"first,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (r row) String() string {
	switch {
	case r.Error != "":
		return fmt.Sprintf("%s: not judged: %.200s", r.ID, r.Error)
	case r.Control:
		return fmt.Sprintf("%s: control, %d cures named %v", r.ID, r.Advice, codes(r.First))
	}
	return fmt.Sprintf("%s: %s; place at %d, cure at %d, first %v", r.ID, r.Cure, r.Site, r.Right, codes(r.First))
}

func codes(rows []said) []string {
	var out []string
	for _, s := range rows {
		out = append(out, s.Code)
	}
	return out
}

// score counts over the cases of one split.
type score struct {
	fixes, site1, site3, cure3, covered, advice, errors int
	controls, alarms                                    int
	amounts                                             []held
	silent                                              map[string]int // cases without a cure at the place, by what the first row there says
}

func (s *score) add(c corpus.Case, r row) {
	within := func(rank, most int) int {
		if rank > 0 && rank <= most {
			return 1
		}
		return 0
	}
	switch {
	case r.Error != "":
		s.errors++
	case c.Control():
		s.controls++
		s.alarms += r.Advice
	default:
		s.fixes++
		s.amounts = append(s.amounts, r.Amounts...)
		s.site1 += within(r.Site, 1)
		s.site3 += within(r.Site, 3)
		s.cure3 += within(r.Right, 3)
		s.advice += r.Advice
		if r.Covered {
			s.covered++
		} else if why := r.why(); why != "" {
			if s.silent == nil {
				s.silent = map[string]int{}
			}
			s.silent[why]++
		}
	}
}

// names matches the names and figures in a reason.
var names = regexp.MustCompile(`(is allocated inside )[^,]+|[\w-]+ (would fit).*`)

// why is the reason for which nothing is named at the place that was changed, without names; "" if the place is not shown.
func (r row) why() string {
	for _, s := range r.First {
		if s.Hit {
			_, text, found := strings.Cut(s.Text, ": ")
			if !found {
				text = s.Text
			}
			return names.ReplaceAllString(text, "$1…$2")
		}
	}
	return ""
}

// apart ends the name of a column of cases whose mutators were written without a look at the cures.
const apart = ", planted apart"

// table prints train beside validation.
func table(w io.Writer, scores map[string]*score) {
	columns := []string{"train", "validation"}
	for _, split := range columns {
		if scores[split+apart] != nil {
			columns = append(columns, split+apart)
		}
	}
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	line := func(name string, value func(s *score) string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", value(scores[c]))
		}
		fmt.Fprintln(w)
	}
	share := func(k func(s *score) int) func(s *score) string {
		return func(s *score) string {
			if s.fixes == 0 {
				return "–"
			}
			return fmt.Sprintf("%.0f %%", 100*float64(k(s))/float64(s.fixes))
		}
	}
	line("fixes", func(s *score) string { return fmt.Sprint(s.fixes) })
	line("site@1", share(func(s *score) int { return s.site1 }))
	line("site@3", share(func(s *score) int { return s.site3 }))
	line("cure@3", share(func(s *score) int { return s.cure3 }))
	line("a cure named at the place", share(func(s *score) int { return s.covered }))
	line("amounts inside the interval", func(s *score) string { return insideText(s.amounts) })
	line("median width ÷ value", func(s *score) string { return widthText(s.amounts) })
	line("controls", func(s *score) string { return fmt.Sprint(s.controls) })
	line("cures named on controls", func(s *score) string { return fmt.Sprint(s.alarms) })
	line("not judged", func(s *score) string { return fmt.Sprint(s.errors) })
	reasons := map[string]bool{}
	for _, c := range columns {
		for why := range scores[c].silent {
			reasons[why] = true
		}
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		line("silent: "+why, func(s *score) string { return fmt.Sprint(s.silent[why]) })
	}
}
