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
	f("functions in files", heap, space+"&detail=filefunction", "-filefunctions")
	f("label focus", heap, space+"&tagfocus=1025b:", "-tagfocus=1025b:")
}

// weights are what a function weighs itself and with its calls, in the unit of
// the report.
type weights struct{ Self, Total float64 }

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
	row := regexp.MustCompile(`^\s*(-?[\d.e+-]+)(?:[a-zA-Z]+)?\s+\S+%\s+\S+%\s+(-?[\d.e+-]+)(?:[a-zA-Z]+)?\s+\S+%\s+(.*)$`)
	top := newTop()
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		self, err1 := strconv.ParseFloat(m[1], 64)
		total, err2 := strconv.ParseFloat(m[2], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("a line of %v that cannot be read: %q", cmd, lines.Text())
		}
		top.add(m[3], weights{self, total})
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
	of    map[string]weights
	twice map[string]bool
}

func newTop() top { return top{map[string]weights{}, map[string]bool{}} }

var (
	inlineMark = regexp.MustCompile(` \((?:partial-)?inline\)$`)
	typesOf    = regexp.MustCompile(`\[.*\]`)
	folders    = regexp.MustCompile(` \S*/([^/ ]+)$`)
)

func (l top) add(name string, w weights) {
	name = folders.ReplaceAllString(typesOf.ReplaceAllString(inlineMark.ReplaceAllString(strings.TrimSpace(name), ""), "[...]"), " $1")
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
	for name, w := range eval[map[string]weights](b, `(() => {
		const v = document.querySelector('.functions-view').functions, mode = v.shown.mode, of = (x) => Math.round(1e6 * x) / 1e6;
		const unit = mode.kind === 'time' ? 1e6 : 1, out = {};
		const figure = (total, objects) => (mode.mean ? (objects > 0 ? total / objects : 0) : total) / mode.divisor / unit;
		for (const l of v.sorted) {
			const x = v.shown.tree.labels.list[l];
			out[x.text] = { Self: of(figure(v.sums.self[l], mode.mean && v.sums.own_objects[l])), Total: of(figure(v.sums.total[l], mode.mean && v.sums.objects[l])) };
		}
		return out })()`) {
		got.add(name, w)
	}
	compared := 0
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
	}
	if compared < len(want.of)*9/10 {
		t.Errorf("only %d of %d functions can be compared", compared, len(want.of))
	}
}
