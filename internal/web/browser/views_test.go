package browser

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestViews clicks through every view on three recordings and compares what is
// shown with the data.
func TestViews(t *testing.T) {
	for _, name := range recordings {
		t.Run(name, func(t *testing.T) {
			browserPath(t)
			p := pageOf(t, bundleOf(t, name))
			b := newTab(t, desktop)
			b.open(p.url)
			checkOverview(t, b, p)
			checkFlame(t, b, p)
			checkCalls(t, b, p)
			checkFunctions(t, b, p)
			checkLabels(t, b, p)
			checkCode(t, b, p)
			checkSource(t, b, p)
			if len(p.data.Views.Time) > 0 {
				checkTime(t, b, p)
			}
			if len(p.data.Views.WhatIf) > 0 {
				checkWhatIf(t, b, p)
			}
			if p.data.Views.Latency != nil {
				checkLatency(t, b, p)
			} else if name == "service" {
				t.Error("the recording of a service has no trace: it tests nothing")
			}
			if got := eval[int](b, "document.querySelectorAll('nav .tab').length"); got != wantTabs(p) {
				t.Errorf("%d tabs, want %d", got, wantTabs(p))
			}
			if len(b.asked()) == 0 {
				t.Error("no request was seen: the check for them does not work")
			}
			for _, url := range b.asked() {
				if url != p.url && url != "about:blank" && !strings.HasPrefix(url, "data:,") {
					t.Errorf("the page asked for %s", url)
				}
			}
		})
	}
}

func wantTabs(p page) int {
	n := 1
	for _, there := range []bool{p.data.Views.Flame != nil, p.data.Views.Flame != nil, p.data.Views.Flame != nil, p.data.Views.Code != nil, len(p.data.Views.Source) > 0, len(p.data.Views.Time) > 0, len(p.data.Views.WhatIf) > 0 || p.data.Views.Plan != nil, p.data.Views.Latency != nil, p.data.Views.Proof != nil} {
		if there {
			n++
		}
	}
	return n
}

// near compares the number that a text begins with to a share.
func near(t *testing.T, what, text string, share float64) {
	t.Helper()
	got, err := strconv.ParseFloat(number(text), 64)
	if err != nil {
		t.Errorf("%s: no number in %q", what, text)
		return
	}
	if want := 100 * share; math.Abs(got-want) > 0.051+0.005*math.Abs(want) {
		t.Errorf("%s: the page says %q, the data %.3f %%", what, text, want)
	}
	if !strings.Contains(text, "%") {
		t.Errorf("%s: %q has no unit", what, text)
	}
}

func checkOverview(t *testing.T, b *tab, p page) {
	t.Helper()
	b.wait("document.querySelector('.overview')")
	r := p.data.Report
	if r.Totals.MemoryShare == nil || len(r.Findings) == 0 {
		t.Fatal("the recording has no CPU or no finding: it tests nothing")
	}
	headline := b.text("[data-figure=memory_share]")
	near(t, "headline", headline, r.Totals.MemoryShare.Value)
	if !strings.ContainsAny(headline, "±(") {
		t.Errorf("the headline %q has no interval", headline)
	}
	near(t, "together", b.text("[data-figure=together]"), r.Together.CPUShare.Value)
	if text := b.text(".headline"); !strings.Contains(text, fmt.Sprintf("; %d of the ", r.TogetherOf)) && !strings.Contains(text, fmt.Sprintf("; the %d cures", r.TogetherOf)) {
		t.Errorf("%q does not say that the saving is that of %d cures", text, r.TogetherOf)
	}
	if !strings.Contains(b.text("[data-figure=why]"), r.Totals.Why) {
		t.Errorf("%q is not shown", r.Totals.Why)
	}
	if top := eval[float64](b, "document.querySelector('.cure').getBoundingClientRect().top"); top > 600 {
		t.Errorf("the first thing to change is %v pixels down", top)
	}
	checkGroups(t, b, p)
	eval[bool](b, "document.querySelector('.decomposition details').open = true")
	for _, row := range r.Decomposition {
		if row.Charged && row.CPUShare.Value > 0 {
			near(t, row.Name, b.text(fmt.Sprintf("[data-bucket=%s]", quote(row.Name))), row.CPUShare.Value)
		}
	}
	for i, f := range r.Findings[:min(len(r.Findings), shownRows)] {
		row := fmt.Sprintf("#cure-%d", f.Rank)
		if f.Prediction.CPUShare != nil {
			near(t, row, b.text(row+" [data-saving]"), f.Prediction.CPUShare.Value)
		}
		place := fmt.Sprintf("%s:%d", f.Site.File, f.Site.Line)
		if text := b.text(row); !strings.Contains(text, place) || !strings.Contains(text, f.Remedy.Code) {
			t.Errorf("row %d says %q, want %s and %s", i, text, place, f.Remedy.Code)
		}
	}
	checkMarks(t, b, p)
	checkQuoted(t, b, p)
	checkShown(t, b, p)
	first := fmt.Sprintf("#cure-%d", r.Findings[0].Rank)
	eval[bool](b, "document.querySelector(%s).open = true", quote(first))
	b.wait("document.querySelector(%s)", quote(first+" .detail"))
	if text := b.text(first + " .detail"); !strings.Contains(text, "Would save") || !strings.Contains(text, "Lifetime") {
		t.Errorf("the first cure says %q", text)
	}
}

// shownRows are the rows of what to change before the others are asked for.
const shownRows = 10

// checkShown looks for how many findings are listed, and what shows the others.
func checkShown(t *testing.T, b *tab, p page) {
	t.Helper()
	rows, below := len(p.data.Report.Findings), p.data.Report.Below
	check := func(shown int) {
		t.Helper()
		text := b.text(".what-to-change .shown")
		want := []string{fmt.Sprintf("%d of %d findings shown.", shown, rows+below)}
		if shown < rows {
			want = append(want, fmt.Sprintf("%d more: the button", rows-shown))
		}
		if below > 0 {
			want = append(want, fmt.Sprintf("%d below the threshold", below), "-threshold 0")
		}
		for _, w := range want {
			if shown < rows+below && !strings.Contains(text, w) {
				t.Errorf("beside the list is %q, want %q", text, w)
			}
		}
	}
	check(min(rows, shownRows))
	if rows > shownRows {
		eval[bool](b, "document.querySelector('.what-to-change > button').click() === undefined")
		check(rows)
	}
}

// checkGroups looks for the groups of the decomposition, which come before its rows.
func checkGroups(t *testing.T, b *tab, p page) {
	t.Helper()
	sum := 0.0
	for _, g := range p.data.Report.Groups {
		sum += g.CPUShare.Value
		if g.CPUShare.Value > 0 {
			near(t, g.Name, b.text(fmt.Sprintf("[data-group=%s]", quote(g.Name))), g.CPUShare.Value)
		}
	}
	if len(p.data.Report.Groups) != 5 || math.Abs(sum-1) > 1e-6 {
		t.Errorf("%d groups add up to %v", len(p.data.Report.Groups), sum)
	}
}

// checkQuoted wants what stands between backticks in a cure's text as code.
func checkQuoted(t *testing.T, b *tab, p page) {
	t.Helper()
	list := p.data.Report.Findings
	for _, f := range list[:min(len(list), shownRows)] {
		text := fmt.Sprintf("#cure-%d summary .text", f.Rank)
		ticks := strings.Count(f.Remedy.Text, "`")
		if ticks%2 != 0 {
			continue
		}
		if got := eval[int](b, "document.querySelectorAll(%s).length", quote(text+" code")); got != ticks/2 || strings.Contains(b.text(text), "`") {
			t.Errorf("cure %d shows %d pieces of code in %q, want %d", f.Rank, got, b.text(text), ticks/2)
		}
	}
}

// checkMarks looks for the order of the cures – functions by what their lines save together,
// and lines within – and for the mark of what cannot be told from the one above.
func checkMarks(t *testing.T, b *tab, p page) {
	t.Helper()
	type figure = struct{ Value, Low, High float64 }
	heads := map[int]figure{}
	size := map[int]int{}
	for _, f := range p.data.Report.Functions {
		heads[f.Ranks[0]], size[f.Ranks[0]] = f.Prediction.CPUShare, len(f.Ranks)
	}
	var above, aboveInFunction *figure
	check := func(what, mark string, own figure, before *figure) {
		t.Helper()
		if before == nil {
			return
		}
		if before.Value < own.Value {
			t.Errorf("%s saves more than the one above it", what)
		}
		half := func(f figure) float64 { return max(f.High-f.Value, f.Value-f.Low) }
		tied := math.Abs(own.Value-before.Value) <= half(own)+half(*before)
		if got := b.text(mark) == "="; got != tied {
			t.Errorf("%s: marked as tied %v, want %v", mark, got, tied)
		}
		if tip := eval[string](b, "(document.querySelector(%s) || {dataset: {tip: ''}}).dataset.tip", quote(mark+" .term")); tied && !strings.Contains(tip, "overlap") {
			t.Errorf("%s says %q", mark, tip)
		}
	}
	left := 0
	for i, f := range p.data.Report.Findings[:min(len(p.data.Report.Findings), shownRows)] {
		if f.Remedy.Code == "leave-it" || f.Prediction.CPUShare == nil {
			continue
		}
		own := figure{f.Prediction.CPUShare.Value, f.Prediction.CPUShare.Low, f.Prediction.CPUShare.High}
		if head, ok := heads[i+1]; ok {
			check(f.Site.Function, fmt.Sprintf(".function-of-cures[data-ranks^='%d,'] .mark", i+1), head, above)
			above, aboveInFunction, left = &head, nil, size[i+1]
		}
		mark := fmt.Sprintf("#cure-%d .mark", f.Rank)
		if left > 0 {
			check(mark, mark, own, aboveInFunction)
			aboveInFunction = &own
			left--
			continue
		}
		check(mark, mark, own, above)
		above = &own
	}
}

// sums adds up the columns of the flame graph's data for each weight, over the
// stacks that end at the nodes to keep.
func sums(p page, keep func(node int) bool) map[string]float64 {
	out := map[string]float64{}
	collector, idle := map[string]bool{}, map[string]bool{}
	for _, x := range p.data.Views.Flame.Buckets {
		collector[x.Name], idle[x.Name] = x.Collector, x.Idle
	}
	for _, c := range p.data.Views.Flame.Weights {
		sum, node := 0.0, 0
		for i, v := range c.V {
			if node += c.At[i]; keep(node) {
				sum += v
			}
		}
		if c.CPU {
			out["cpu"] += sum * 1e-7
			if !collector[c.Name] && !idle[c.Name] {
				out["cost"] += sum * 1e-7
			}
			continue
		}
		switch c.Name {
		case "churn", "retention", "remainder":
			out["cost"] += sum * 1e-7
			sum *= 1e-7
		}
		out[c.Name] += sum
	}
	return out
}

// beyond tells the nodes whose stacks have a frame that an expression matches
// neither the function nor the file of, and the root, where samples without a stack are.
func beyond(p page, re *regexp.Regexp) func(node int) bool {
	v := p.data.Views.Flame
	return func(node int) bool {
		if node == 0 {
			return true
		}
		for ; node > 0; node -= v.Parent[node] {
			f := v.Frame[node]
			if !re.MatchString(v.Functions.Name[v.Frames.Function[f]]) && !re.MatchString(v.Files[v.Frames.File[f]]) {
				return true
			}
		}
		return false
	}
}

func checkFlame(t *testing.T, b *tab, p page) {
	t.Helper()
	b.view("flame")
	want := sums(p, func(int) bool { return true })
	if math.Abs(want["cost"]-1) > 1e-3 {
		t.Errorf("the cost of all stacks is %v of CPU, want 1", want["cost"])
	}
	weights := eval[[]string](b, "[...document.querySelector('.flame-view select').options].map((o) => o.value)")
	for _, weight := range []string{"cost", "cpu", "alloc_space", "alloc_objects"} {
		if !strings.Contains(" "+strings.Join(weights, " ")+" ", " "+weight+" ") {
			t.Errorf("the weights %v lack %s", weights, weight)
		}
	}
	for _, weight := range weights {
		eval[bool](b, "(() => { const s = document.querySelector('.flame-view select'); s.value = %s; s.dispatchEvent(new Event('change')); return true })()", quote(weight))
		b.wait("new URLSearchParams(location.hash.slice(1)).get('weight') === %s", quote(weight))
		got := eval[float64](b, "document.querySelector('.flame-view').flame.tree.total[0]")
		if w, ok := want[weight]; ok && math.Abs(got-w) > 1e-6*math.Abs(w)+1e-9 {
			t.Errorf("%s: the graph adds up to %v, the data to %v", weight, got, w)
		}
		if boxes := eval[int](b, "document.querySelector('.flame-view').flame.main.stats.boxes"); boxes < 5 && weight != "retention" {
			t.Errorf("%s: %d boxes are drawn", weight, boxes)
		}
	}
	checkFlameKeys(t, b)
	checkFlameFilters(t, b, p)
}

const flame = "document.querySelector('.flame-view').flame"

// checkFlameKeys walks, zooms and searches by keyboard, and comes back by a
// link.
func checkFlameKeys(t *testing.T, b *tab) {
	t.Helper()
	b.key("r")
	eval[bool](b, "(() => { const s = document.querySelector('.flame-view select'); s.value = 'cost'; s.dispatchEvent(new Event('change')); document.querySelectorAll('canvas.flame')[1].focus(); return true })()")
	b.key(kb.ArrowDown)
	b.wait(flame + ".main.chosen > 0")
	b.key(kb.Enter)
	b.wait(flame + ".main.root > 0")
	zoomed := eval[int](b, flame+".main.root")
	link := eval[string](b, "location.href")
	if said := eval[string](b, "document.querySelectorAll('.flame-box .unseen')[1].textContent"); !strings.Contains(said, "total") {
		t.Errorf("the screen reader is told %q", said)
	}
	b.key(kb.Backspace)
	b.wait("%s.main.root !== %d", flame, zoomed)
	b.open(link)
	b.wait("%s.main.root === %d", flame, zoomed)
	b.key("r")
	b.wait(flame + ".main.root === 0")
	b.key("/")
	b.wait("document.activeElement.type === 'search'")
	b.key("gateway")
	b.wait("document.querySelector('.hits').textContent.includes('hit')")
	b.key(kb.Enter)
	b.wait(flame + ".main.chosen > 0")
	eval[bool](b, "(document.activeElement.blur(), true)")
	b.key("r")
}

func checkFlameFilters(t *testing.T, b *tab, p page) {
	t.Helper()
	whole := eval[float64](b, flame+".tree.total[0]")
	at := strings.SplitN(b.text("header h1"), "\n", 2)[0]
	open := func(hash string) float64 {
		b.open(p.url + "#view=flame&" + hash)
		return eval[float64](b, flame+".tree.total[0]")
	}
	focus, ignore := open("focus=gateway"), open("ignore=gateway")
	if focus <= 0 || ignore <= 0 || math.Abs(focus+ignore-whole) > 1e-9 {
		t.Errorf("%s: focus %v and ignore %v do not make the whole %v", at, focus, ignore, whole)
	}
	// A stack without any other frame is hidden with its cost.
	left := sums(p, beyond(p, regexp.MustCompile("(?i)gateway")))["cost"]
	if hide := open("hide=gateway"); math.Abs(hide-left) > 1e-6 {
		t.Errorf("hiding frames changes the sum from %v to %v, want %v", whole, hide, left)
	}
	if eval[bool](b, flame+".tree.labels.list.some((l, i) => /gateway/i.test(l.text + l.file) && "+flame+".tree.label.subarray(1, "+flame+".tree.n).includes(i))") {
		t.Error("a frame that is hidden is in the tree")
	}
	for _, detail := range []string{"line", "file", "package"} {
		if got := open("detail=" + detail); math.Abs(got-whole) > 1e-9 {
			t.Errorf("%s: the sum is %v, want %v", detail, got, whole)
		}
	}
	pivot := p.data.Report.Findings[0].Site.Function
	if total := open("pivot=" + strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "[", "%5B", "]", "%5D").Replace(pivot)); total <= 0 {
		t.Errorf("the callees of %s weigh %v", pivot, total)
	}
	if up := eval[float64](b, flame+".up.total[0] - "+flame+".tree.total[0]"); math.Abs(up) > 1e-9 {
		t.Errorf("callers and callees of %s differ by %v", pivot, up)
	}
	if bad := open("q=%28"); bad <= 0 || !strings.Contains(b.text(".controls"), "not an expression") {
		t.Error("a broken expression is not said to be one")
	}
	b.open(p.url)
}

func checkSource(t *testing.T, b *tab, p page) {
	t.Helper()
	b.view("source")
	escaped := strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "[", "%5B", "]", "%5D")
	show := func(function, file string, line int, more string) (row string) {
		b.open(p.url + fmt.Sprintf("#view=source&fn=%s&file=%s&line=%d", escaped.Replace(function), file, line) + more)
		b.wait("document.querySelector('.listing tr.here')")
		return b.text(".listing tr.here")
	}
	f := p.data.Report.Findings[0]
	// A change may belong to a line that allocates nothing itself.
	at, most := f.Site, 0.0
	for _, p := range f.Places {
		if p.Share > most {
			at, most = p.site, p.Share
		}
	}
	if row := show(at.Function, at.File, at.Line, ""); !strings.Contains(row, strconv.Itoa(at.Line)) || !strings.Contains(row, "%") {
		t.Errorf("the line that allocates for the first finding says %q", row)
	}
	total := ".listing tr.here td[data-column=total]"
	cost := parse(t, b.text(total))
	show(at.Function, at.File, at.Line, "&ignore="+"%5E"+strings.NewReplacer("(", "%5C%28", ")", "%5C%29", "*", "%5C%2A", ".", "%5C.", "[", "%5C%5B", "]", "%5C%5D").Replace(at.Function)+"%24")
	if left := b.text(total); cost > 0 && left != "" {
		t.Errorf("without the function's own stacks its line costs %q", left)
	}
	if row := show(f.Site.Function, f.Site.File, f.Site.Line, ""); !strings.Contains(row, strconv.Itoa(f.Site.Line)) {
		t.Errorf("the line of the first finding says %q", row)
	}
	if note := b.text(".listing tr.here + tr.about"); !strings.Contains(note, f.Remedy.Code) {
		t.Errorf("below the line of the first finding stands %q, want %s", note, f.Remedy.Code)
	}
	if text := b.text(".jump"); !strings.Contains(text, fmt.Sprintf("%s:%d", f.Site.File, f.Site.Line)) {
		t.Errorf("the place to jump to is %q", text)
	}
}

func checkTime(t *testing.T, b *tab, p page) {
	t.Helper()
	b.view("time")
	b.wait("document.querySelectorAll('.chart canvas').length > 2")
	whole := eval[[]float64](b, "(() => { const p = document.querySelector('.time-view').time.plots[0]; return [p.scales.x.min, p.scales.x.max] })()")
	eval[bool](b, "(document.querySelector('.time-view').time.plots[0].setScale('x', {min: %v, max: %v}), true)", whole[0]+0.2*(whole[1]-whole[0]), whole[0]+0.4*(whole[1]-whole[0]))
	b.wait("document.querySelector('.time-view').time.plots.every((p) => Math.abs(p.scales.x.max - %v) < 1e-6)", whole[0]+0.4*(whole[1]-whole[0]))
	if shown := eval[bool](b, "[...document.querySelectorAll('.time-view .u-label')].some((x) => x.textContent === 'RSS')"); shown != (len(p.data.Views.Time[0].Metrics.RSS) > 0) {
		t.Errorf("the resident set is shown %v, and there are %d samples", shown, len(p.data.Views.Time[0].Metrics.RSS))
	}
	if n := eval[int](b, "document.querySelector('.time-view').time.plots.length"); n < 3 {
		t.Errorf("%d charts", n)
	}
}

func checkWhatIf(t *testing.T, b *tab, p page) {
	t.Helper()
	b.view("whatif")
	b.wait("document.querySelector('.whatif-view .setting')")
	if plan := p.data.Views.Plan; plan != nil {
		want := plan.Recommended.Refused
		if plan.Recommended.Point != nil {
			want = plan.Recommended.Point.Setting.Text
		}
		if text := b.text(".plan .measured"); plan.Measured.RSS > 0 && !strings.Contains(text, "measured with") {
			t.Errorf("of what was measured the plan says %q", text)
		}
		if text := b.text(".plan"); !strings.Contains(text, want) || strings.Contains(text, "up to 0 B") {
			t.Errorf("the plan says %.200q, want %q and no memory of 0 B", text, want)
		}
	}
	today := fmt.Sprintf("GOGC=%d", p.data.Views.WhatIf[0].GOGC)
	if got := b.text(".setting"); !strings.Contains(got, today) {
		t.Errorf("today's setting is shown as %q, want %s", got, today)
	}
	// Without the memory beside the heap, there is no slider for limits.
	limits := eval[bool](b, "[...document.querySelectorAll('.slider input')].some((s) => s.getAttribute('aria-label') === 'Memory limit')")
	if known := p.data.Views.WhatIf[0].NonHeap > 0; limits != known || known == strings.Contains(b.text(".sliders"), "There is no slider for a memory limit") {
		t.Errorf("a slider for limits: %v; the memory beside the heap is known: %v", limits, known)
	}
	eval[bool](b, "(() => { const s = document.querySelector('.slider input'); s.value = '11'; s.dispatchEvent(new Event('input')); return true })()")
	b.wait("document.querySelector('.setting').textContent.includes('GOGC=400')")
	if got := b.text(".result"); !strings.Contains(got, "Saves") || !strings.Contains(got, "% ") {
		t.Errorf("GOGC=400 says %q", got)
	}
}

func checkLatency(t *testing.T, b *tab, p page) {
	t.Helper()
	b.view("latency")
	b.wait("document.querySelectorAll('.requests li').length > 0")
	text := b.text(".latency-view")
	shown := 0
	for _, g := range p.data.Views.Latency.Payers.Groups {
		name := g.Handler
		if name == "" {
			name = g.Start
		}
		if name != "" && strings.Contains(text, name[strings.LastIndex(name, "/")+1:]) {
			shown++
		}
	}
	if shown == 0 || !strings.Contains(text, "program stopped") {
		t.Errorf("the view of delayed goroutines says %.300q", text)
	}
}

// TestProof measures two settings of the collector and shows the outcome.
func TestProof(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for half a minute")
	}
	browserPath(t)
	bundle := bundleOf(t, "benchmarks")
	proof := filepath.Join(t.TempDir(), "proof.json")
	tool(t)("prove", "-a", "env:GOGC=100", "-b", "env:GOGC=400", "-bench", "Order$", "-budget", "8s", "-json", proof, "./examples/gateway")
	p := pageOf(t, bundle, "-proof", proof, "-base", bundleOf(t, "files"))
	for _, l := range []look{desktop, {390, 844, true}} {
		b := newTab(t, l)
		b.open(p.url + "#view=proof")
		v := p.data.Views.Proof
		if text := b.text(".proof-view .headline"); text != v.Verdict.Sentence || text == "" {
			t.Errorf("the verdict is shown as %q, want %q", text, v.Verdict.Sentence)
		}
		rows := eval[int](b, "document.querySelectorAll('.proof-view .whiskers').length")
		want := 0
		for _, c := range v.Comparisons {
			for _, x := range c.Changes {
				if x.Change != nil {
					want++
				}
			}
		}
		if rows != want || want < 5 {
			t.Errorf("%d changes are drawn, want %d", rows, want)
		}
		first := v.Comparisons[0].Changes[0]
		near(t, first.Label, b.text(".proof-view tbody tr td:nth-child(4)"), first.Change.Value)
		checkLook(t, b, l, "proof")
		b.shot(fmt.Sprintf("proof-%d", l.width))
	}
}
