package web

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Limits of the label sets of a recording: a program may label each request
// with a name of its own.
const (
	maxLabelSets  = 4096 // told apart while profiles are read
	keptLabelSets = 128  // on the page: the heaviest
	maxNumbers    = 48   // values of a numeric label; more are gathered in ranges
	maxLabelText  = 200  // bytes of a value
)

// labelsView is what samples are labelled with. A column of weights belongs to
// one set; set 0 has no labels.
type labelsView struct {
	Keys []string     `json:"keys"`
	Sets [][]labelOf  `json:"sets"`
	Lost []labelShare `json:"lost"` // what sets that are not told apart weigh
}

// labelOf is a label as the page shows it. A number has its range: Low is
// excluded unless it is High.
type labelOf struct {
	Key  int      `json:"key"`
	Text string   `json:"text"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	Unit string   `json:"unit,omitempty"`
}

type labelShare struct {
	Weight string  `json:"weight"`
	Share  float64 `json:"share"`
}

// lostSet stands for all sets that are not told apart.
const lostSet = -1

// labelTable numbers sets of labels in the order they come.
type labelTable struct {
	sets [][]evidence.Label
	at   map[string]int
	key  []byte
	sort []evidence.Label
}

// of returns the number of a set: 0 for none, lostSet beyond the limit.
func (t *labelTable) of(labels []evidence.Label) int {
	if len(labels) == 0 {
		return 0
	}
	t.sort = append(t.sort[:0], labels...)
	slices.SortFunc(t.sort, compareLabels)
	if n, ok := t.at[t.encode()]; ok {
		return n
	}
	if len(t.sets) >= maxLabelSets {
		for i := range t.sort { // sizes of blocks are the usual reason
			if t.sort[i].Text == "" {
				t.sort[i].Number = int64(topOfRange(t.sort[i].Number))
			}
		}
		if n, ok := t.at[t.encode()]; ok {
			return n
		}
		if len(t.sets) >= 2*maxLabelSets {
			return lostSet
		}
	}
	if t.at == nil {
		t.at = map[string]int{}
	}
	t.sets = append(t.sets, slices.Clone(t.sort))
	t.at[t.encode()] = len(t.sets)
	return len(t.sets)
}

func (t *labelTable) encode() string {
	t.key = t.key[:0]
	for _, l := range t.sort {
		for _, s := range [...]string{l.Key, l.Text, l.Unit} {
			t.key = strconv.AppendQuote(t.key, s)
		}
		t.key = strconv.AppendInt(t.key, l.Number, 36)
	}
	return string(t.key)
}

func compareLabels(a, b evidence.Label) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text), cmp.Compare(a.Number, b.Number), strings.Compare(a.Unit, b.Unit))
}

// topOfRange is the power of two at or above n; of what is below one, n.
func topOfRange(n int64) float64 {
	if n < 1 {
		return float64(n)
	}
	return math.Ldexp(1, bits.Len64(uint64(n-1)))
}

// unitOf is the unit of a number. The runtime and other profilers give sizes of
// blocks without one.
func unitOf(l evidence.Label) string {
	if l.Unit == "" && (l.Key == "bytes" || l.Key == "request") {
		return "bytes"
	}
	return l.Unit
}

// exportLabels decides which sets the page tells apart and renumbers the
// columns. It returns nil when no sample has a label.
func (t *callTree) exportLabels() *labelsView {
	if len(t.labels.sets) == 0 {
		return nil
	}
	v := &labelsView{Sets: [][]labelOf{{}}, Lost: []labelShare{}}
	merged, number := v.merge(t.labels.sets)
	weight, totals := make([]float64, len(merged)), map[string]float64{}
	for k, w := range t.weights {
		totals[k.group()] += w.sumAbs()
	}
	for k, w := range t.weights {
		if k.labels > 0 {
			at := number[k.labels-1]
			weight[at] = max(weight[at], w.sumAbs()/totals[k.group()])
		}
	}
	order := make([]int, len(merged))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Round(1e9*weight[b]), math.Round(1e9*weight[a])) })
	place := make([]int, len(merged))
	for i, at := range order {
		place[at] = lostSet
		if i < keptLabelSets {
			place[at] = len(v.Sets)
			v.Sets = append(v.Sets, merged[at])
		}
	}
	t.renumber(func(set int) int { return place[number[set-1]] })
	lost := map[string]float64{}
	for k, w := range t.weights {
		if k.labels == lostSet {
			lost[k.group()] += w.sumAbs()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		v.Lost = append(v.Lost, labelShare{name, lost[name] / totals[name]})
	}
	return v
}

// merge writes the sets as the page shows them, with numbers of many values
// gathered in ranges, and returns the distinct ones and the place of each among
// them.
func (v *labelsView) merge(sets [][]evidence.Label) ([][]labelOf, []int) {
	numbers := map[string]map[int64]bool{}
	for _, set := range sets {
		for _, l := range set {
			if l.Text == "" {
				if numbers[l.Key] == nil {
					numbers[l.Key] = map[int64]bool{}
				}
				numbers[l.Key][l.Number] = true
			}
		}
	}
	var keys, seen index
	var merged [][]labelOf
	place := make([]int, len(sets))
	for i, set := range sets {
		out := make([]labelOf, 0, len(set))
		name := ""
		for _, l := range set {
			x := shownLabel(l, len(numbers[l.Key]) > maxNumbers)
			x.Key = keys.of(l.Key)
			out = append(out, x)
			name += strconv.Itoa(x.Key) + strconv.Quote(x.Text)
		}
		at := seen.of(name)
		if at == len(merged) {
			merged = append(merged, out)
		}
		place[i] = at
	}
	v.Keys = keys.list
	return merged, place
}

func shownLabel(l evidence.Label, ranges bool) labelOf {
	if l.Text != "" {
		text := strings.ToValidUTF8(l.Text, "�")
		if len(text) > maxLabelText {
			text = strings.ToValidUTF8(text[:maxLabelText], "") + "…"
		}
		return labelOf{Text: text}
	}
	low, high := float64(l.Number), float64(l.Number)
	if ranges && l.Number > 0 {
		high = topOfRange(l.Number)
		low = math.Floor(high / 2)
	}
	text := strconv.FormatFloat(high, 'f', -1, 64)
	if low != high {
		text = strconv.FormatFloat(low, 'f', -1, 64) + "…" + text
	}
	return labelOf{Text: text, Low: &low, High: &high, Unit: unitOf(l)}
}

// renumber gives the columns of weights other sets; columns that become one are
// added up.
func (t *callTree) renumber(place func(set int) int) {
	out := map[weightKey]*sparse{}
	for _, k := range slices.SortedFunc(maps.Keys(t.weights), compareKeys) {
		to := k
		if k.labels > 0 {
			to.labels = place(k.labels)
		}
		if out[to] == nil {
			out[to] = t.weights[k]
			continue
		}
		for i, node := range t.weights[k].nodes {
			out[to].add(node, t.weights[k].v[i])
		}
	}
	t.weights = out
}

// group is the name of what a column's weight is a part of.
func (k weightKey) group() string {
	if k.cpu {
		return "cpu"
	}
	return k.name
}
