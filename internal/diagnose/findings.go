package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// merged is one site over all runs that have it.
type merged struct {
	key   stack.Key
	runs  []*runCosts
	sites []*siteCost // parallel to runs
}

// merge joins the sites of all runs. All runs have equal weights: a benchmark's length says
// nothing about its importance.
func merge(runs []*runCosts) []merged {
	at := map[stack.Key]int{}
	var out []merged
	for _, r := range runs {
		for i := range r.sites {
			s := &r.sites[i]
			k, ok := at[s.site.Key]
			if !ok {
				k = len(out)
				at[s.site.Key] = k
				out = append(out, merged{key: s.site.Key})
			}
			out[k].runs = append(out[k].runs, r)
			out[k].sites = append(out[k].sites, s)
		}
	}
	return out
}

// heaviest is the index of the run in which the site costs most.
func (m merged) heaviest() int {
	best := 0
	for i, s := range m.sites {
		if weight(s, m.runs[i]) > weight(m.sites[best], m.runs[best]) {
			best = i
		}
	}
	return best
}

// weight ranks a site within its run: by CPU where CPU was sampled, else by
// its share of the bytes.
func weight(s *siteCost, r *runCosts) float64 {
	if r.CPU.Known && r.cpu.charged > 0 {
		return s.cost.CPU.Value
	}
	return byteShare(s, r)
}

// byteShare is a site's share of the bytes of its run.
func byteShare(s *siteCost, r *runCosts) float64 {
	if all := r.AllBytes(); all > 0 {
		return math.Max(s.site.Bytes, 0) / all
	}
	return 0
}

// titled are the kind of an allocation and the call that a site is named after: its most frequent kind, unless of most
// bytes no kind is known, and the call through which most bytes of that kind are allocated, if it is one.
func titled(t *run.Site, mix []finding.Mix) (kind finding.Kind, via string) {
	if len(mix) == 0 {
		return run.Top(t.Kinds), run.Top(t.Via)
	}
	kinds, calls := map[finding.Kind]float64{}, map[string]float64{}
	for _, m := range mix {
		kinds[m.Kind] += m.Bytes
	}
	if kind = run.Top(t.Kinds); kinds[kind] < kinds[""] {
		kind = ""
	}
	for _, m := range mix {
		if m.Kind == kind {
			calls[m.Via] += m.Bytes
		}
	}
	return kind, run.Top(calls)
}

// finding makes the report's row of a site. runs is the number of runs in the
// recording: a run without the site counts as zero.
func (m merged) finding(module stack.Root, runs int) finding.Finding {
	h := m.heaviest()
	s := m.sites[h]
	mix := s.site.Mixes(m.runs[h].counts.Tiny)
	pointers := finding.PointersOf(mix)
	if len(mix) == 0 {
		pointers = s.site.Pointerful() // by CPU samples
	}
	f := finding.Finding{
		Site: module.Site(m.key),
		Run:  m.runs[h].Run.Name,
		Allocation: finding.Allocation{
			Mix:   mix,
			Sizes: s.site.SizeCounts(m.runs[h].counts.Tiny), Pointers: pointers,
		},
		Cost:     s.cost,
		Lifetime: s.lifetime,
		Stacks:   s.site.Heaviest(5),
	}
	f.Allocation.Kind, f.Allocation.Via = titled(s.site, mix)
	removal := s.prediction
	var cost finding.Cost
	var saved, caches stats.Interval
	for i, r := range m.runs {
		f.ByRun = append(f.ByRun, finding.RunCost{Run: r.Run.Name, Cost: m.sites[i].cost})
		cost = addShares(cost, m.sites[i].cost)
		saved, caches = saved.Add(m.sites[i].prediction.CPU), caches.Add(m.sites[i].prediction.Caches)
	}
	// Shares are means over the runs; amounts stay those of the heaviest run.
	f.Cost = scaleShares(f.Cost, cost, 1/float64(runs))
	removal.CPU, removal.Caches = saved.Scale(1/float64(runs)), caches.Scale(1/float64(runs))
	f.Removal = &removal
	return f
}

// addShares adds the CPU columns of two costs.
func addShares(a, b finding.Cost) finding.Cost {
	a.CPU = a.CPU.Add(b.CPU)
	a.Malloc = a.Malloc.Add(b.Malloc)
	a.Zeroing = a.Zeroing.Add(b.Zeroing)
	a.GrowCopy = a.GrowCopy.Add(b.GrowCopy)
	a.Assist = a.Assist.Add(b.Assist)
	a.Churn = a.Churn.Add(b.Churn)
	a.Retention = a.Retention.Add(b.Retention)
	return a
}

// scaleShares puts k times the CPU columns of from into c.
func scaleShares(c, from finding.Cost, k float64) finding.Cost {
	c.CPU, c.Malloc, c.Zeroing, c.GrowCopy = from.CPU.Scale(k), from.Malloc.Scale(k), from.Zeroing.Scale(k),
		from.GrowCopy.Scale(k)
	c.Assist, c.Churn, c.Retention = from.Assist.Scale(k), from.Churn.Scale(k), from.Retention.Scale(k)
	return c
}

func rootOf(d *finding.Diagnosis) stack.Root {
	return stack.Root{
		Path: d.Target.Module, Dir: d.Target.ModuleDir, Goroot: d.Environment.GOROOT, Workspace: d.Target.Workspace,
	}
}

// hint names the module that -own should have: without a known module the one with most of
// the cost; with one, another that has more of it than the findings show. A user who wraps
// another module in a small main package wants to look there.
func hint(all []merged, own *stack.Ownership, runs int) string {
	if own.Explicit {
		return ""
	}
	outside, inside, mine, of := map[string]float64{}, map[string]float64{}, 0.0, "CPU"
	for _, m := range all {
		for i, s := range m.sites {
			if !m.runs[i].CPU.Known || m.runs[i].cpu.charged <= 0 {
				of = "all bytes"
			}
			w := weight(s, m.runs[i]) / float64(runs)
			if m.key.By == stack.OwnerUser {
				mine += w
				inside[stack.RepositoryOf(m.key.Function)] += w
			} else if m.key.By == stack.OwnerStd {
				outside[own.ModuleOf(thirdParty(s, own))] += w
			}
		}
	}
	delete(outside, "")
	delete(inside, "")
	if own.Anyone() && len(inside) > 1 {
		return fmt.Sprintf("the recording does not name its module, so all modules count as yours: -own %s/... "+
			"keeps to the one with most of the cost", run.Top(inside))
	}
	module := run.Top(outside)
	if w := outside[module]; w > 0.02 && w > 2*mine {
		return fmt.Sprintf(
			"lines in %[2]s, outside of your module, have %.1[1]f %% of %[3]s: -own %[2]s/... charges it to lines there", 100*w,
			module, of,
		)
	}
	return ""
}

// thirdParty is the first function of another module on a site's heaviest
// stack, leaf first; "" when there is none.
func thirdParty(s *siteCost, own *stack.Ownership) string {
	for _, st := range s.site.Heaviest(1) {
		for _, f := range st.Frames {
			if own.Of(f) == stack.OwnerThirdParty {
				return f.Function
			}
		}
	}
	return ""
}

// rank splits the sites into ranked findings and excluded ones, heaviest first, and drops
// those that cost less than floor of the whole.
func rank(all []merged, module stack.Root, runs int) (findings, apart []finding.Finding) {
	for i, m := range all {
		w, bytes := 0.0, 0.0
		for i, s := range m.sites {
			w += weight(s, m.runs[i]) / float64(runs)
			bytes += byteShare(s, m.runs[i]) / float64(runs)
		}
		// A negative cost gets a row too: removing such a site would make the program slower. A short run may have no
		// CPU sample of a site that its profile of memory counts.
		if math.Abs(w) < floor && bytes < floor {
			continue
		}
		f := m.finding(module, runs)
		f.ID = i + 1
		if m.key.By == stack.OwnerUser {
			findings = append(findings, f)
			continue
		}
		f.Title = "benchmark or test code"
		if m.key.By != stack.OwnerTest {
			f.Title = "no frame of your code on the stack"
		}
		apart = append(apart, f)
	}
	if slices.ContainsFunc(findings, counted) {
		apart = append(apart, uncounted(findings)...)
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { return !counted(f) })
	}
	order(findings)
	slices.SortStableFunc(apart, byCost)
	for i := range findings {
		findings[i].Title = Title(findings[i].Allocation)
	}
	return findings, apart
}

// counted reports whether a profile of memory has the site.
func counted(f finding.Finding) bool { return f.Cost.Objects.Value > 0 || f.Cost.InUse.Value > 0 }

// uncounted are the findings without a counted allocation. Their few CPU samples may be chance.
func uncounted(fs []finding.Finding) (out []finding.Finding) {
	for _, f := range fs {
		if !counted(f) {
			f.Title = "in CPU samples alone: no allocation was counted here"
			out = append(out, f)
		}
	}
	return out
}

// floor drops rows that are too small to act on: below this share of the CPU and of the bytes.
const floor = 0.0005

// order sorts findings by cost. A function's heaviest line is ranked by the cost of the
// whole function: users look for a cure function by function, and a cost spread over many
// lines must not rank behind a single line elsewhere. Its other lines are ranked by their
// own cost.
func order(fs []finding.Finding) {
	slices.SortStableFunc(fs, byCost)
	total := map[string]amount{}
	for _, f := range fs {
		t := total[f.Site.Function]
		total[f.Site.Function] = amount{t.cpu + f.Cost.CPU.Value, t.bytes + f.Cost.Bytes.Value}
	}
	key := make(map[evidence.Site]amount, len(fs))
	for _, f := range fs {
		key[f.Site] = amountOf(f)
		if t, first := total[f.Site.Function]; first {
			key[f.Site] = t
			delete(total, f.Site.Function)
		}
	}
	slices.SortStableFunc(fs, func(a, b finding.Finding) int { return key[b.Site].compare(key[a.Site]) })
}

// byCost puts the finding that costs more first, and equal ones in the order of their places.
func byCost(a, b finding.Finding) int {
	return cmp.Or(
		amountOf(b).compare(amountOf(a)), cmp.Compare(a.Site.File, b.Site.File),
		cmp.Compare(a.Site.Line, b.Site.Line),
	)
}

// amount is the cost that findings are compared by: the share of CPU, and the bytes of those without a sample.
type amount struct{ cpu, bytes float64 }

func amountOf(f finding.Finding) amount { return amount{f.Cost.CPU.Value, f.Cost.Bytes.Value} }

func (a amount) compare(b amount) int {
	return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.bytes, b.bytes))
}

// Title names an allocation in a few words.
func Title(a finding.Allocation) string {
	what := string(a.Kind)
	if what == "" {
		what = "allocation"
	}
	if a.Via != "" {
		return what + " in " + shortFunction(a.Via)
	}
	return what
}

// shortFunction drops the directories of the package path.
func shortFunction(fn string) string {
	depth := 0
	for i := len(fn) - 1; i >= 0; i-- {
		switch fn[i] {
		case ']':
			depth++
		case '[':
			depth--
		case '/':
			if depth == 0 {
				return fn[i+1:]
			}
		}
	}
	return fn
}
