package browser

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// sharing adds up what the functions of a recording weigh, from the data alone:
// each with its calls, once a stack, and the calls between them.
type sharing struct {
	whole float64
	self  map[string]float64
	total map[string]float64
	edge  map[[2]string]float64
}

// share weighs the functions by allocated bytes.
func share(p page) sharing {
	v := p.data.Views.Flame
	n := len(v.Parent)
	parent, own := make([]int, n), make([]float64, n)
	for i := 1; i < n; i++ {
		parent[i] = i - v.Parent[i]
	}
	for _, c := range v.Weights {
		if c.Name != "alloc_space" || c.Base {
			continue
		}
		at := 0
		for i, step := range c.At {
			at += step
			own[at] += c.V[i]
		}
	}
	name := func(i int) string { return v.Functions.Name[v.Frames.Function[v.Frame[i]]] }
	virtual := func(i int) bool {
		return v.Functions.Owner[v.Frames.Function[v.Frame[i]]] == "heaptrim" && parent[i] != 0
	}
	s := sharing{self: map[string]float64{}, total: map[string]float64{}, edge: map[[2]string]float64{}}
	for i := 1; i < n; i++ {
		if own[i] == 0 {
			continue
		}
		s.whole += own[i]
		at := i
		for virtual(at) {
			at = parent[at]
		}
		s.self[name(at)] += own[i]
		seen, edges := map[string]bool{}, map[[2]string]bool{}
		for ; at != 0; at = parent[at] {
			if !seen[name(at)] {
				s.total[name(at)] += own[i]
				seen[name(at)] = true
			}
			if up := parent[at]; up != 0 {
				if e := [2]string{name(up), name(at)}; !edges[e] {
					s.edge[e] += own[i]
					edges[e] = true
				}
			}
		}
	}
	return s
}

func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b)+1e-9 }

// heaviest is the function of a recording with the most bytes of its own.
func heaviest(s sharing) string {
	best := ""
	for name, v := range s.self {
		if v > s.self[best] || v == s.self[best] && name < best {
			best = name
		}
	}
	return best
}

const calls = "document.querySelector('.calls-view').calls"

// checkCalls compares boxes and arrows of the call graph with the data, and
// walks through it.
func checkCalls(t *testing.T, b *tab, p page) {
	t.Helper()
	want := share(p)
	b.open(p.url + "#view=calls&weight=alloc_space&nodes=320")
	b.wait("document.querySelectorAll('.calls .box').length > 3")
	type weight struct {
		Name        string
		Self, Total float64
	}
	for _, got := range eval[[]weight](b, "("+calls+").graph.nodes.map((n) => ({Name: "+calls+".shown.tree.labels.list[n.label].text, Self: "+calls+".graph.sums.self[n.label], Total: "+calls+".graph.sums.total[n.label]}))") {
		if !equal(got.Self, want.self[got.Name]) || !equal(got.Total, want.total[got.Name]) {
			t.Errorf("the box of %s weighs %v itself and %v in all, want %v and %v", got.Name, got.Self, got.Total, want.self[got.Name], want.total[got.Name])
		}
	}
	type arrow struct {
		From, To string
		Total    float64
		Residual bool
	}
	arrows := eval[[]arrow](b, "("+calls+").graph.edges.map((e) => ({From: "+calls+".name(e.from), To: "+calls+".name(e.to), Total: e.total, Residual: e.residual}))")
	direct := 0
	for _, got := range arrows {
		w := want.edge[[2]string{got.From, got.To}]
		if got.Residual {
			if w != 0 {
				t.Errorf("the arrow from %s to %s is shown as one over other functions, and %v of it is direct", got.From, got.To, w)
			}
			continue
		}
		direct++
		// Where other calls lead over functions that are not drawn, they are in it.
		if w == 0 || got.Total < w*(1-1e-6) {
			t.Errorf("the arrow from %s to %s weighs %v, want at least %v", got.From, got.To, got.Total, w)
		}
	}
	if direct < 5 {
		t.Errorf("%d direct calls are drawn", direct)
	}
	if overlap := eval[string](b, overlapScript); overlap != "" {
		t.Errorf("boxes of the call graph overlap: %s", overlap)
	}
	walkCalls(t, b, heaviest(want))
}

// overlapScript names two boxes that overlap.
const overlapScript = `(() => {
	const boxes = [...document.querySelectorAll('.calls .box')].map((g) => ({ name: g.dataset.label, r: g.querySelector('rect').getBBox() }));
	for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1))
		if (a.r.x < b.r.x + b.r.width && b.r.x < a.r.x + a.r.width && a.r.y < b.r.y + b.r.height && b.r.y < a.r.y + a.r.height) return a.name + ' and ' + b.name;
	return ''; })()`

func walkCalls(t *testing.T, b *tab, name string) {
	t.Helper()
	eval[bool](b, "(document.querySelector('.calls .box[data-label=%s]').dispatchEvent(new MouseEvent('click', { bubbles: true })), true)", cssString(name))
	b.wait("document.querySelector('.calls .box.on')")
	if got := eval[string](b, "new URLSearchParams(location.hash.slice(1)).get('node')"); got != name {
		t.Errorf("a click on the box of %s chose %s", name, got)
	}
	if text := b.text(".calls-view .chosen"); !strings.Contains(text, name) || !strings.Contains(text, "total") {
		t.Errorf("of the chosen function is said %q", text)
	}
	link := eval[string](b, "location.href")
	eval[bool](b, "(document.querySelector('.calls .box.on').focus(), true)")
	b.key(kb.ArrowUp)
	b.wait("document.querySelector('.calls .box.on') && document.querySelector('.calls .box.on').dataset.label !== %s", quote(name))
	k := eval[float64](b, calls+".camera.at.k")
	b.key("+")
	b.wait("%s.camera.at.k > %v", calls, k)
	b.open(link)
	b.wait("document.querySelector('.calls .box.on')")
	if got := eval[string](b, "document.querySelector('.calls .box.on').dataset.label"); got != name {
		t.Errorf("the link to %s shows %s", name, got)
	}
	whole := eval[float64](b, calls+".shown.whole.total")
	b.key("f")
	b.wait("new URLSearchParams(location.hash.slice(1)).get('focus')")
	if focus := eval[float64](b, calls+".shown.whole.total"); focus <= 0 || focus > whole {
		t.Errorf("focus on %s leaves %v of %v", name, focus, whole)
	}
	b.key("r")
	b.wait("!new URLSearchParams(location.hash.slice(1)).get('focus')")
}

func cssString(s string) string { return "\\\"" + s + "\\\"" }

// checkFunctions compares the table and the peek with the data, and sorts it.
func checkFunctions(t *testing.T, b *tab, p page) {
	t.Helper()
	want := share(p)
	b.open(p.url + "#view=functions&weight=alloc_space")
	b.wait("document.querySelectorAll('.top tbody tr').length > 3")
	names := func() []string {
		return eval[[]string](b, "[...document.querySelectorAll('.top tbody tr')].map((r) => r.dataset.name)")
	}
	sorted := func(by map[string]float64) {
		t.Helper()
		list := names()
		for i := 1; i < len(list); i++ {
			if by[list[i]] > by[list[i-1]]*(1+1e-9) {
				t.Errorf("row %d, %s, weighs %v, more than the row above with %v", i, list[i], by[list[i]], by[list[i-1]])
				return
			}
		}
	}
	sorted(want.self)
	if first := names()[0]; !equal(want.self[first], want.self[heaviest(want)]) {
		t.Errorf("the first row is %s, want %s", first, heaviest(want))
	}
	eval[bool](b, "([...document.querySelectorAll('.top .sort')].find((x) => x.textContent === 'total').click(), true)")
	b.wait("location.hash.includes('sort=total')")
	sorted(want.total)
	name := heaviest(want)
	b.open(p.url + "#view=functions&weight=alloc_space&node=" + url.QueryEscape(name))
	b.wait("document.querySelector('.peeked')")
	type row struct {
		Name  string
		Total float64
	}
	callers := eval[[]row](b, "[...document.querySelector('.peeked .edges').querySelectorAll('tbody tr')].map((r) => ({ Name: (r.querySelector('button') || {}).title || '', Total: parseFloat(r.cells[1].textContent) }))")
	sum := 0.0
	for _, r := range callers {
		sum += r.Total
		if w := 100 * want.edge[[2]string{r.Name, name}] / want.total[name]; r.Name != "" && math.Abs(r.Total-w) > 0.06+0.01*w {
			t.Errorf("%s is shown to have %v %% of %s, want %.2f", r.Name, r.Total, name, w)
		}
	}
	if len(callers) == 0 || math.Abs(sum-100) > 1+0.06*float64(len(callers)) {
		t.Errorf("the %d callers of %s add up to %v %%", len(callers), name, sum)
	}
}

// checkLabels compares the labels' breakdown with the data and filters by it.
func checkLabels(t *testing.T, b *tab, p page) {
	t.Helper()
	v := p.data.Views.Flame
	if v.Labels == nil {
		t.Error("the recording has no labels: it tests nothing")
		return
	}
	bySet := map[int]float64{}
	whole := 0.0
	for _, c := range v.Weights {
		if c.Name == "alloc_space" {
			for _, x := range c.V {
				bySet[c.Set] += x
				whole += x
			}
		}
	}
	best := 0
	for set, x := range bySet {
		if set > 0 && x > bySet[best] {
			best = set
		}
	}
	label := v.Labels.Sets[best][0]
	key := v.Labels.Keys[label.Key]
	b.open(p.url + "#view=flame&weight=alloc_space")
	eval[bool](b, "(document.querySelector('.labels').open = true, true)")
	b.wait("document.querySelector('.labels tbody tr')")
	if got := b.text(".labels tbody tr td:nth-child(3)"); math.Abs(parse(t, got)-100*bySet[best]/whole) > 0.06 {
		t.Errorf("the heaviest value of %s is shown with %s, want %.2f %%", key, got, 100*bySet[best]/whole)
	}
	eval[bool](b, "(document.querySelector('.labels tbody tr button').click(), true)")
	b.wait("location.hash.includes('tagfocus')")
	if got := eval[float64](b, flame+".tree.total[0]"); !equal(got, bySet[best]) {
		t.Errorf("the filter of %s=%s leaves %v, want %v", key, label.Text, got, bySet[best])
	}
	filter := eval[string](b, "new URLSearchParams(location.hash.slice(1)).get('tagfocus')")
	total := func(hash string) float64 {
		b.open(p.url + "#view=flame&weight=alloc_space&" + hash)
		return eval[float64](b, flame+".tree.total[0]")
	}
	if got := total("tagignore=" + url.QueryEscape(filter)); !equal(got, whole-bySet[best]) {
		t.Errorf("without %s there is %v, want %v", filter, got, whole-bySet[best])
	}
	for _, how := range []string{"tagroot", "tagleaf"} {
		if got := total(how + "=" + key); !equal(got, whole) {
			t.Errorf("%s changes the sum from %v to %v", how, whole, got)
		}
		if !eval[bool](b, flame+".tree.labels.list.some((l) => l.owner === 'label' && l.text.startsWith(%s))", quote(key+": ")) {
			t.Errorf("%s puts no label into the tree", how)
		}
	}
	low := 0.0
	for set, x := range bySet {
		if set > 0 && *v.Labels.Sets[set][0].High <= 1024 {
			low += x
		}
	}
	if got := total("tagfocus=" + url.QueryEscape(":1kb")); !equal(got, low) {
		t.Errorf("blocks up to 1 KiB weigh %v, want %v", got, low)
	}
}

// checkCode compares instructions with the data.
func checkCode(t *testing.T, b *tab, p page) {
	t.Helper()
	v := p.data.Views.Code
	if v == nil {
		t.Error("no view of instructions")
		return
	}
	b.view("code")
	if len(v.Missing) > 0 {
		if text := b.text(".code-view .code-notes"); !strings.Contains(text, v.Missing[0]) {
			t.Errorf("without machine code the view says %q, want %q", text, v.Missing)
		}
	}
	self, total := byPlace(p)
	heavy, at, place := -1.0, 0, 1
	first := make([]int, len(v.Functions))
	for i, f := range v.Functions {
		first[i] = place
		for range f.Step {
			if self[place] > heavy {
				heavy, at = self[place], i
			}
			place++
		}
	}
	f := v.Functions[at]
	b.open(p.url + "#view=code&weight=alloc_space&unit=B&fn=" + url.QueryEscape(f.Name))
	b.wait("document.querySelector('.machine tbody tr[data-at]')")
	if len(f.Code) == 0 {
		if rows := eval[int](b, "document.querySelectorAll('.machine tr[data-at]').length"); rows == 0 || rows > len(f.Step) {
			t.Errorf("%d addresses of %s, want up to %d", rows, f.Name, len(f.Step))
		}
		return
	}
	own, all := map[int]float64{}, map[int]float64{}
	for i, instruction := range f.Code[0].At {
		own[instruction] += self[first[at]+i]
		all[instruction] += total[first[at]+i]
	}
	for instruction := range all {
		row := fmt.Sprintf(".machine tr[data-at='%d']", instruction)
		if got, want := b.text(row), v.Texts[f.Code[0].Text[instruction]]; instruction >= 0 && !strings.Contains(got, want) {
			t.Errorf("instruction %d of %s is shown as %q, want %q", instruction, f.Name, got, want)
		}
		for i, want := range []float64{own[instruction], all[instruction]} {
			if got := b.text(fmt.Sprintf("%s td:nth-child(%d)", row, i+1)); instruction >= 0 && math.Abs(parseOr(got)-want) > 0.01*want+1 {
				t.Errorf("instruction %d of %s weighs %q in column %d, want %v", instruction, f.Name, got, i+1, want)
			}
		}
	}
	if got := eval[int](b, "document.querySelectorAll('.machine tr[data-at]').length"); got < len(f.Code[0].Step) {
		t.Errorf("%d instructions of %s, want %d", got, f.Name, len(f.Code[0].Step))
	}
	if sources := b.text(".machine tr.line"); !strings.Contains(sources, ":") {
		t.Errorf("above the first instruction stands %q", sources)
	}
}

// byPlace adds up the allocated bytes of a recording's places: of stacks that end
// there, and of all that pass.
func byPlace(p page) (self, total map[int]float64) {
	v := p.data.Views.Flame
	self, total = map[int]float64{}, map[int]float64{}
	for _, c := range v.Weights {
		if c.Name != "alloc_space" || c.Base {
			continue
		}
		node := 0
		for i, step := range c.At {
			node += step
			place := func(n int) int { return v.Frames.Place[v.Frame[n]] }
			self[place(node)] += c.V[i]
			seen := map[int]bool{}
			for n := node; n > 0; n -= v.Parent[n] {
				if !seen[place(n)] {
					seen[place(n)] = true
					total[place(n)] += c.V[i]
				}
			}
		}
	}
	return self, total
}

// parseOr is the first number of a text, 0 without one.
func parseOr(text string) float64 {
	var x float64
	if _, err := fmt.Sscan(number(text), &x); err != nil {
		return 0
	}
	return x
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	var x float64
	if _, err := fmt.Sscan(number(text), &x); err != nil {
		t.Errorf("no number in %q", text)
	}
	return x
}
