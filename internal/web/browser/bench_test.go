package browser

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// The size of the recording that the page is measured with: a CPU profile of
// some 100 MB, uncompressed, whose stacks make more than 200 000 calls.
const (
	bigSamples = 1_700_000
	bigNodes   = 230_000
	bigDepth   = 34
)

// writeBig writes such a profile. Its calls grow as those of programs do: a
// new one below a random one that is there, deeper ones more often.
func writeBig(w io.Writer) error {
	r := rand.New(rand.NewPCG(1, 2))
	parent, depth := []int{0}, []int{0}
	frames := make([][]evidence.Frame, bigNodes)
	for i := 1; i < bigNodes; i++ {
		p := r.IntN(i)
		for range 6 {
			if other := r.IntN(i); depth[other] > depth[p] && depth[other] < bigDepth {
				p = other
			}
		}
		parent, depth = append(parent, p), append(depth, depth[p]+1)
		fn := r.IntN(12_000)
		frames[i] = []evidence.Frame{{Function: fmt.Sprintf("example.com/big/pkg%d.(*Type%d).method%d", fn%300, fn%1000, fn), File: fmt.Sprintf("/src/big/pkg%d/file%d.go", fn%300, fn%7), Line: 10 + fn%400}}
	}
	out, err := pprof.NewWriter(w, pprof.Header{
		Types:    []evidence.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodOf: evidence.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, Duration: time.Minute,
	})
	if err != nil {
		return err
	}
	var stack [][]evidence.Frame
	for i := range bigSamples {
		node := i + 1
		if node >= bigNodes {
			node = 1 + r.IntN(bigNodes-1)
		}
		stack = stack[:0]
		for ; node > 0; node = parent[node] {
			stack = append(stack, frames[node])
		}
		if err := out.Add(stack, []int64{1, 1e7}); err != nil {
			return err
		}
	}
	return out.Close()
}

// BenchmarkPage measures in the browser: from opening the file to its first
// paint, and one step of zooming in the flame graph with all its calls. Open
// files as people do, warm in the cache of the file system.
//
//	go test -run '^$' -bench Page -benchtime 5x
func BenchmarkPage(b *testing.B) {
	browserPath(b)
	run := tool(b)
	profile := filepath.Join(b.TempDir(), "cpu.pprof")
	if *keep != "" {
		profile = filepath.Join(*keep, "big.pprof")
	}
	if _, err := os.Stat(profile); err != nil {
		f, err := os.Create(profile)
		if err != nil {
			b.Fatal(err)
		}
		if err := writeBig(f); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	file := filepath.Join(b.TempDir(), "page.html")
	start := time.Now()
	run("view", "-html", file, "-threshold", "0", profile)
	making := time.Since(start)
	served := filepath.Join(b.TempDir(), "served.html")
	run("view", "-html", served, "-nodes", "250000", profile)
	b.Run("FirstPaint", func(b *testing.B) { benchPaint(b, file, making) })
	b.Run("FirstPaintFlame", func(b *testing.B) { benchPaint(b, file+"#view=flame", 0) })
	b.Run("FirstPaintCalls", func(b *testing.B) { benchPaint(b, file+"#view=calls", 0) })
	b.Run("FirstPaintFunctions", func(b *testing.B) { benchPaint(b, file+"#view=functions", 0) })
	b.Run("FirstPaintServed", func(b *testing.B) { benchPaint(b, served, 0) })
	b.Run("FirstPaintServedCalls", func(b *testing.B) { benchPaint(b, served+"#view=calls&nodes=320", 0) })
	b.Run("Zoom", func(b *testing.B) { benchZoom(b, served) })
}

func benchPaint(b *testing.B, file string, making time.Duration) {
	name, _, _ := strings.Cut(file, "#")
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	var paint, ready []float64
	for range b.N {
		t := newTab(b, desktop)
		t.do(chromedp.Navigate("file://" + file))
		t.wait("document.documentElement.dataset.ready && performance.getEntriesByName('first-contentful-paint').length")
		paint = append(paint, eval[float64](t, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		ready = append(ready, eval[float64](t, "performance.timing.loadEventEnd - performance.timing.navigationStart"))
	}
	report(b, "paint", paint)
	report(b, "load", ready)
	b.ReportMetric(float64(info.Size())/1e6, "MB-html")
	if making > 0 {
		b.ReportMetric(making.Seconds(), "s-to-make")
	}
	b.ReportMetric(0, "ns/op")
}

// benchZoom zooms through the heaviest calls and back, as a click does: state,
// layout, drawing and the words beside it.
func benchZoom(b *testing.B, file string) {
	t := newTab(b, desktop)
	t.open("file://" + file + "#view=flame&panes=graph")
	nodes := eval[int](t, flame+".tree.n")
	var steps, script []float64
	for range b.N {
		// Until the frame that shows the step has been drawn.
		eval[bool](t, `(window.zooms = null, (async () => {
			const f = %s, t = f.tree, times = [];
			const step = async (n) => { const t0 = performance.now(); f.main.o.zoom(n); await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); times.push(performance.now() - t0); };
			let n = 0;
			for (let k = 0; k < 12 && t.from[n] < t.from[n + 1]; k++) await step(n = t.list[t.from[n]]);
			await step(0);
			for (let k = 0; k < 8; k++) await step(t.list[t.from[0] + k %% (t.from[1] - t.from[0])]);
			await step(0);
			window.zooms = times; })(), true)`, flame)
		t.wait("window.zooms")
		steps = append(steps, eval[[]float64](t, "window.zooms")...)
		script = append(script, eval[float64](t, flame+".main.stats.layout + "+flame+".main.stats.draw"))
	}
	report(b, "zoom", steps)
	report(b, "draw", script)
	b.ReportMetric(float64(nodes), "nodes")
	b.ReportMetric(0, "ns/op")
}

// report gives the median and the extremes of measured milliseconds.
func report(b *testing.B, name string, ms []float64) {
	slices.Sort(ms)
	b.ReportMetric(ms[len(ms)/2], "ms-"+name)
	b.ReportMetric(ms[len(ms)*95/100], "ms-"+name+"-p95")
	b.ReportMetric(ms[len(ms)-1], "ms-"+name+"-max")
	b.Logf("%s: %s", name, strings.Trim(fmt.Sprintf("%.1f", ms), "[]"))
}
