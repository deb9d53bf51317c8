package browser

import (
	"bufio"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOptionsOfPprof compares what the page shows with what go tool pprof
// prints of the same profiles under the same options.
func TestOptionsOfPprof(t *testing.T) {
	browserPath(t)
	bundle := bundleOf(t, "files")
	dir := filepath.Dir(bundle)
	cpu, heap := filepath.Join(dir, "cpu.pprof"), filepath.Join(dir, "allocs.pprof")
	p := pageOf(t, bundle, "-nodes", "1000000")
	b := newTab(t, desktop)
	// The page leaves out what the runtime has on the stack while it allocates.
	const space, hide = "weight=alloc_space&unit=B&hide=/src/runtime/", "-hide=/src/runtime/"
	const time, prune = "weight=cpu&unit=ms", `^encoding/json\.(Marshal|Unmarshal|cachedTypeFields)$|^strings\.`
	f := func(name, profile, hash string, options ...string) {
		t.Run(name, func(t *testing.T) {
			b.t = t
			if profile == heap {
				options = append(options, hide)
			}
			compareTop(t, b, topOf(t, profile, options...), p.url+"#view=functions&sort=name&"+hash)
		})
	}
	f("bytes", heap, space)
	f("CPU", cpu, time)
	f("no inlines, bytes", heap, space+"&inline=off", "-noinlines")
	f("no inlines, CPU", cpu, time+"&inline=off", "-noinlines")
	f("prune", heap, space+"&prune="+url.QueryEscape(prune), "-prune_from="+prune)
	f("prune, no inlines", cpu, time+"&inline=off&prune="+url.QueryEscape(prune+`|^runtime\.mallocgc`), "-noinlines", "-prune_from="+prune+`|^runtime\.mallocgc`)
	f("focus and hide, no inlines", cpu, time+"&inline=off&focus=encoding/json&hide="+url.QueryEscape(`^encoding/json\.\(\*decodeState\)`), "-noinlines", "-focus=encoding/json", `-hide=^encoding/json\.\(\*decodeState\)`)
	f("show from, prune", heap, space+"&from="+url.QueryEscape(`gateway\.\(`)+"&prune="+url.QueryEscape(`Unmarshal$`), `-show_from=gateway\.\(`, "-prune_from=Unmarshal$")
	f("divided", heap, space+"&div=8", "-divide_by=8")
	f("CPU divided", cpu, time+"&div=2.5", "-divide_by=2.5")
	f("mean", heap, space+"&mean=1", "-mean")
	f("mean, pruned, no inlines", heap, space+"&mean=1&inline=off&prune="+url.QueryEscape(prune), "-mean", "-noinlines", "-prune_from="+prune)
	f("lines", heap, space+"&detail=line", "-lines")
	f("addresses", heap, space+"&detail=address", "-addresses")
	f("addresses of CPU", cpu, time+"&detail=address", "-addresses")
	f("addresses of CPU, no inlines", cpu, time+"&detail=address&inline=off", "-addresses", "-noinlines")
	f("functions in files", heap, space+"&detail=filefunction", "-filefunctions")
	f("shares of all", heap, space+"&focus=encoding/json", "-focus=encoding/json")
	f("shares of what is shown", heap, space+"&focus=encoding/json&rel=shown", "-focus=encoding/json", "-relative_percentages")
	f("shares of CPU that is shown", cpu, time+"&focus=encoding/json&rel=shown", "-focus=encoding/json", "-relative_percentages")
	f("label focus", heap, space+"&tagfocus=1025b:", "-tagfocus=1025b:")
}

// weights are what a function weighs itself and with its calls, in the unit of
// the report.
type weights struct{ Self, Total float64 }

// topRow is a function with the percent that these are of all or of what is shown.
type topRow struct {
	weights
	SelfShare, TotalShare float64
}

// topOf runs go tool pprof -top without any limit.
func topOf(t *testing.T, profile string, options ...string) top {
	t.Helper()
	unit := "-unit=ms"
	args := []string{"tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"}
	if strings.HasSuffix(profile, "allocs.pprof") {
		unit = "-unit=B"
		args = append(args, "-sample_index=alloc_space")
	}
	args = append(append(args, unit), options...)
	cmd := exec.Command("go", append(args, profile)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	row := regexp.MustCompile(`^\s*(-?[\d.e+-]+)(?:[a-zA-Z]+)?\s+(\S+)%\s+\S+%\s+(-?[\d.e+-]+)(?:[a-zA-Z]+)?\s+(\S+)%\s+(.*)$`)
	top := newTop()
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		var x [4]float64 // self, its share, total, its share
		for i := range x {
			var err error
			if x[i], err = strconv.ParseFloat(m[i+1], 64); err != nil {
				t.Fatalf("a line of %v that cannot be read: %q", cmd, lines.Text())
			}
		}
		top.add(m[5], topRow{weights{x[0], x[2]}, x[1], x[3]})
	}
	if len(top.of) < 5 {
		t.Fatalf("%v lists %d functions:\n%s", cmd, len(top.of), out)
	}
	return top
}

// top is a list of functions by names that both sides can be brought to: without
// the types of generic functions, the folders of files and what pprof adds. Names
// that several functions come to are left out.
type top struct {
	of    map[string]topRow
	twice map[string]bool
}

func newTop() top { return top{map[string]topRow{}, map[string]bool{}} }

var (
	inlineMark = regexp.MustCompile(` \((?:partial-)?inline\)$`)
	typesOf    = regexp.MustCompile(`\[.*\]`)
	addresses  = regexp.MustCompile(`^0*([0-9a-f]{4,16}) (.*)$`)
	folders    = regexp.MustCompile(` \S*/([^/ ]+)( 0x[0-9a-f]+)?$`)
)

func (l top) add(name string, w topRow) {
	name = strings.TrimSpace(addresses.ReplaceAllString(inlineMark.ReplaceAllString(strings.TrimSpace(name), ""), "$2 0x$1"))
	name = folders.ReplaceAllString(typesOf.ReplaceAllString(inlineMark.ReplaceAllString(strings.TrimSpace(name), ""), "[...]"), " $1$2")
	if _, ok := l.of[name]; ok {
		l.twice[name] = true
	}
	l.of[name] = w
}

func compareTop(t *testing.T, b *tab, want top, address string) {
	t.Helper()
	b.open(address)
	b.wait("document.querySelector('.top tbody tr')")
	got := newTop()
	for name, w := range eval[map[string]topRow](b, `(() => {
		const v = document.querySelector('.functions-view').functions, mode = v.shown.mode, of = (x) => Math.round(1e6 * x) / 1e6;
		const unit = mode.kind === 'time' ? 1e6 : 1, out = {};
		const figure = (total, objects) => (mode.mean ? (objects > 0 ? total / objects : 0) : total) / mode.divisor / unit;
		for (const l of v.sorted) {
			const x = v.shown.tree.labels.list[l];
			const share = (sum) => 100 * sum / (mode.relative ? mode.whole : mode.all);
			out[x.text] = { Self: of(figure(v.sums.self[l], mode.mean && v.sums.own_objects[l])), Total: of(figure(v.sums.total[l], mode.mean && v.sums.objects[l])), SelfShare: share(v.sums.self[l]), TotalShare: share(v.sums.total[l]) };
		}
		return out })()`) {
		got.add(name, w)
	}
	compared := 0
	// Of means pprof has shares that add up to nothing; and of all CPU the page takes
	// idle marking off.
	shares := !strings.Contains(address, "mean=") && (strings.Contains(address, "weight=alloc_space") || strings.Contains(address, "rel=shown"))
	for _, name := range slices.Sorted(maps.Keys(want.of)) {
		w, g := want.of[name], got.of[name]
		if want.twice[name] || got.twice[name] {
			continue
		}
		compared++
		// pprof prints whole bytes and four figures.
		if math.Abs(w.Self-g.Self) > 0.0006*math.Abs(w.Self)+1 || math.Abs(w.Total-g.Total) > 0.0006*math.Abs(w.Total)+1 {
			t.Errorf("%s: the page has %v, pprof %v", name, g, w)
		}
		if shares && (math.Abs(w.SelfShare-g.SelfShare) > 0.006 || math.Abs(w.TotalShare-g.TotalShare) > 0.006) {
			t.Errorf("%s: the page has %v in percent, pprof %v", name, g, w)
		}
	}
	if compared < len(want.of)*9/10 {
		t.Errorf("only %d of %d functions can be compared", compared, len(want.of))
	}
}

// TestCallTreeOfPprof compares the call graph with each path by itself with
// pprof's: the same boxes, each with the same weight.
func TestCallTreeOfPprof(t *testing.T) {
	browserPath(t)
	bundle := bundleOf(t, "files")
	p := pageOf(t, bundle, "-nodes", "1000000")
	b := newTab(t, desktop)
	for _, inline := range []bool{true, false} {
		options := []string{"tool", "pprof", "-dot", "-call_tree", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-sample_index=alloc_space", "-unit=B", `-focus=json\.Marshal$`, "-hide=/src/runtime/"}
		hash := "#view=calls&weight=alloc_space&paths=1&nodes=1000&nf=0&ef=0&unit=B&focus=json%5C.Marshal%24&hide=/src/runtime/"
		if !inline {
			options, hash = append(options, "-noinlines"), hash+"&inline=off"
		}
		cmd := exec.Command("go", append(options, filepath.Join(filepath.Dir(bundle), "allocs.pprof"))...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		var want []string
		for _, m := range regexp.MustCompile(`(?m)^N\d+ \[label=.* tooltip="(.*) \((\d+)B\)"`).FindAllStringSubmatch(string(out), -1) {
			want = append(want, typesOf.ReplaceAllString(m[1], "[...]")+" "+m[2])
		}
		b.open(p.url + hash)
		b.wait("document.querySelector('.calls .box')")
		got := eval[[]string](b, "("+calls+").graph.nodes.map((n) => "+calls+".shown.tree.labels.list[n.label].text + ' ' + Math.round("+calls+".graph.sums.total[n.at]))")
		for i := range got {
			got[i] = typesOf.ReplaceAllString(got[i], "[...]")
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(want) < 20 || !slices.Equal(got, want) {
			t.Errorf("inlined %v: %d boxes, pprof has %d; the page\n%s\npprof\n%s", inline, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if edges := eval[int](b, "("+calls+").graph.edges.length"); edges != len(got)-1 {
			t.Errorf("inlined %v: %d arrows between %d boxes of a tree", inline, edges, len(got))
		}
		if got := eval[int](b, "document.querySelectorAll('.calls .box').length"); got != len(want) {
			t.Errorf("inlined %v: %d boxes are drawn, want %d", inline, got, len(want))
		}
	}
}

// TestNothingLeft: filters that leave nothing leave every view of stacks whole.
func TestNothingLeft(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "files"))
	b := newTab(t, desktop)
	for _, view := range []string{"flame", "calls", "calls&paths=1", "functions"} {
		for _, weight := range []string{"cost", "alloc_space&mean=1", "cpu&unit=ms&rel=shown"} {
			b.open(p.url + "#focus=nothing-has-this-name&view=" + view + "&weight=" + weight)
			if text := b.text("main > :not([hidden])"); strings.Contains(text, "NaN") || strings.Contains(text, "Infinity") || strings.Contains(text, "undefined") {
				t.Errorf("%s of %s says %q", view, weight, text)
			}
		}
	}
}

// TestFigures turns the controls of figures as a reader does.
func TestFigures(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "service"))
	b := newTab(t, desktop)
	b.open(p.url + "#view=functions&weight=alloc_space")
	b.key("u")
	b.wait("document.querySelector('.functions-view .more').open && document.activeElement.getAttribute('aria-label') === 'Unit'")
	eval[bool](b, "(document.activeElement.blur(), true)")
	pick := func(label, value string) {
		t.Helper()
		eval[bool](b, `(() => { const box = [...document.querySelectorAll('.functions-view select')].find((s) => s.getAttribute('aria-label') === %s); box.value = %s; box.dispatchEvent(new Event('change')); return true })()`, quote(label), quote(value))
	}
	tick := func(label string) {
		t.Helper()
		eval[bool](b, "([...document.querySelectorAll('.functions-view .check')].find((c) => c.innerText.includes(%s)).querySelector('input').click(), true)", quote(label))
	}
	cell := ".functions-view .top tbody td"
	pick("Unit", "KiB")
	b.wait("/ KiB/.test(document.querySelector(%s).innerText)", quote(cell))
	whole := eval[float64](b, "document.querySelector('.functions-view').functions.shown.whole.total")
	if text := b.text(".functions-view > .note"); math.Abs(parse(t, text)-whole/1024) > 0.01*whole/1024 {
		t.Errorf("of %v bytes is said %q", whole, text)
	}
	tick("mean size")
	b.wait("location.hash.includes('mean=1') && document.querySelector('.functions-view > .note').innerText.includes('an object')")
	tick("mean size")
	eval[bool](b, "(() => { const f = document.querySelector('.functions-view .short input'); f.value = '4'; f.dispatchEvent(new Event('input')); return true })()")
	b.wait("document.querySelector('.functions-view > .note').innerText.includes('divided by 4')")
	if text := b.text(".functions-view > .note"); math.Abs(parse(t, text)-whole/4096) > 0.01*whole/4096 {
		t.Errorf("of %v bytes divided by 4 is said %q", whole, text)
	}
	rows := func() int { return eval[int](b, "document.querySelector('.functions-view').functions.sorted.length") }
	all := rows()
	tick("inlined calls")
	b.wait("location.hash.includes('inline=off')")
	if got := rows(); got >= all || got == 0 {
		t.Errorf("%d functions without inlined ones, %d with them", got, all)
	}
	if got := eval[float64](b, "document.querySelector('.functions-view').functions.shown.whole.total"); !equal(got, whole) {
		t.Errorf("without inlined functions all weighs %v, want %v", got, whole)
	}
	link := eval[string](b, "location.href")
	b.open(link)
	b.wait("document.querySelector('.functions-view .more').open")
	if got := b.text(".functions-view > .note"); !strings.Contains(got, "divided by 4") {
		t.Errorf("the link brings %q", got)
	}
	b.key("r")
	b.wait("!/unit|div|inline/.test(location.hash)")
	pick("Weight", "cpu")
	pick("Unit", "ms")
	cpu := eval[float64](b, "document.querySelector('.functions-view').functions.m.ownRuns.reduce((s, r) => s + r.cpu_ns, 0)")
	b.wait("/ ms /.test(document.querySelector('.functions-view > .note').innerText)")
	if text := b.text(".functions-view > .note"); math.Abs(parse(t, text)-cpu/1e6) > 0.05*cpu/1e6 {
		t.Errorf("of %v ms CPU is said %q", cpu/1e6, text)
	}
}

// TestGrown: with a base, what costs less than before can be left out.
func TestGrown(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "service"), "-base", bundleOf(t, "files"))
	b := newTab(t, desktop)
	b.open(p.url + "#view=functions&weight=alloc_space&grew=1")
	b.wait("document.querySelector('.top tbody tr')")
	const f = "document.querySelector('.functions-view').functions"
	if n := eval[int](b, "(() => { const v = %s; return v.sorted.filter((l) => v.sums.total[l] < v.sums.base[l] * v.shown.tree.baseScale).length })()", f); n != 0 {
		t.Errorf("%d functions are listed that weigh less than before", n)
	}
	grown := eval[int](b, f+".sorted.length")
	b.open(p.url + "#view=functions&weight=alloc_space")
	b.wait("document.querySelector('.top tbody tr')")
	if all := eval[int](b, f+".sorted.length"); grown == 0 || grown >= all {
		t.Errorf("%d functions have grown, of %d", grown, all)
	}
	b.open(p.url + "#view=calls&weight=alloc_space&grew=1")
	b.wait("document.querySelector('.calls .box')")
	if n := eval[int](b, "(() => { const v = %s; return v.graph.nodes.filter((n) => v.graph.sums.total[n.at] < v.graph.sums.base[n.at] * v.shown.tree.baseScale).length })()", calls); n != 0 {
		t.Errorf("%d boxes weigh less than before", n)
	}
	b.open(p.url + "#view=flame&weight=alloc_space&grew=1")
	b.wait("document.querySelector('canvas.flame')")
	if n := eval[int](b, "(() => { const t = %s.tree; let n = 0; for (let i = 1; i < t.n; i++) if (t.span[i] > 0 && t.total[i] < t.base[i] * t.baseScale) n++; return n })()", flame); n != 0 {
		t.Errorf("%d boxes of the flame graph are drawn that weigh less than before", n)
	}
}
