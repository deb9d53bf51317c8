package browser

import (
	"bytes"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// names try to become elements, scripts, handlers or addresses wherever they
// are shown.
var names = []string{
	"</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>", "' onmouseover='window.hit=1",
	"javascript:window.hit=1", "${window.hit=1}", "<!--", "a\u202egnp.exe", "\u2028window.hit=1//", "__proto__", "constructor",
}

// What the values of profiles mean, as writeProfile takes it.
const (
	cpuTypes  = "samples/count cpu/nanoseconds"
	heapTypes = "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
)

// writeProfile writes a profile with the stacks that samples yields, innermost
// call first, and their values.
func writeProfile(t *testing.T, file, types string, samples iter.Seq2[[][]evidence.Frame, []int64]) {
	t.Helper()
	var header pprof.Header
	for t := range strings.FieldsSeq(types) {
		name, unit, _ := strings.Cut(t, "/")
		header.Types = append(header.Types, evidence.ValueType{Type: name, Unit: unit})
	}
	header.Period, header.PeriodOf = 1e7, header.Types[len(header.Types)-1]
	var b bytes.Buffer
	out, err := pprof.NewWriter(&b, header)
	if err != nil {
		t.Fatal(err)
	}
	for stack, values := range samples {
		if err := out.Add(stack, values); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hostile yields a stack with each of the names, and its values.
func hostile(values func(i int) []int64) iter.Seq2[[][]evidence.Frame, []int64] {
	return func(yield func([][]evidence.Frame, []int64) bool) {
		for i, name := range names {
			stack := [][]evidence.Frame{{{Function: "runtime.mallocgc", File: "malloc.go", Line: 1}}, {{Function: "example.com/x." + name, File: "/src/" + name + ".go", Line: 7}}, {{Function: "example.com/x.serve", File: "/src/main.go", Line: 3}}}
			if !yield(stack, values(i)) {
				return
			}
		}
	}
}

// TestHostileProfile opens a page whose functions and files have hostile
// names, and looks everywhere that they are shown.
func TestHostileProfile(t *testing.T) {
	browserPath(t)
	dir := t.TempDir()
	cpu, allocs := filepath.Join(dir, "cpu.pprof"), filepath.Join(dir, "allocs.pprof")
	writeProfile(t, cpu, cpuTypes, hostile(func(i int) []int64 { return []int64{10, int64(20+i) * 1e7} }))
	writeProfile(t, allocs, heapTypes, hostile(func(int) []int64 { return []int64{100, 10000, 10, 1000} }))
	p := pageOfFiles(t, cpu, allocs)
	// A name can look like another package's: that one is not the user's then.
	if len(p.data.Report.Findings) < len(names)-2 {
		t.Fatalf("%d findings of %d names", len(p.data.Report.Findings), len(names))
	}
	b := newTab(t, desktop)
	b.open(p.url)
	elements := eval[int](b, "document.querySelectorAll('script').length")
	eval[bool](b, "(document.querySelectorAll('details').forEach((d) => { d.open = true }), true)")
	for _, hash := range []string{"view=flame", "view=flame&colour=bucket&detail=line", "view=flame&detail=file", "view=flame&pivot=example.com%2Fx.%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E", "view=source&fn=example.com%2Fx.%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E&file=%3Csvg%20onload%3Dwindow.hit%3D1%3E", "view=%3Cscript%3E", "view=flame&weight=__proto__&detail=constructor&shape=%3Cb%3E&zoom=99999999&at=-5", "%00%ff"} {
		b.open(p.url + "#" + hash)
		if !strings.Contains(hash, "pivot") {
			eval[bool](b, "(() => { const c = document.querySelector('canvas.flame'); if (c) for (let y = 5; y < 200; y += 20) for (let x = 5; x < 700; x += 60) { const r = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('mousemove', { clientX: r.left + x, clientY: r.top + y, bubbles: true })) } return true })()")
		}
		if eval[bool](b, "'hit' in window || document.querySelector('img, svg, iframe') !== null") || eval[int](b, "document.querySelectorAll('script').length") != elements {
			t.Fatalf("%s: a name became part of the page", hash)
		}
	}
	b.open(p.url)
	text := b.text(".cures")
	for _, want := range []string{"<img src=x onerror=window.hit=1>", "javascript:window.hit=1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the name %q is not shown as it is", want)
		}
	}
	if strings.Contains(text, "\u202e") {
		t.Error("a mark that turns the direction of writing is not made visible")
	}
}

// TestPolicyHolds: the page's own policy stops a script, a style and a request
// that something would add to it.
func TestPolicyHolds(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "service"))
	b := newTab(t, desktop)
	b.open(p.url)
	blocked := eval[bool](b, `(() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (e) => window.violations.push(e.effectiveDirective));
		const add = (tag, props) => document.body.append(Object.assign(document.createElement(tag), props));
		add("script", { textContent: "window.hit = 1" });
		add("style", { textContent: "body { display: none }" });
		add("img", { src: "http://127.0.0.1:9/x.png" });
		add("iframe", { src: "http://127.0.0.1:9/" });
		fetch("http://127.0.0.1:9/").catch(() => {});
		return true })()`)
	b.wait("window.violations.length >= 5")
	got := strings.Join(eval[[]string](b, "window.violations.sort()"), " ")
	if want := "connect-src frame-src img-src script-src-elem style-src-elem"; got != want || !blocked {
		t.Errorf("blocked: %s, want %s", got, want)
	}
	if eval[bool](b, "'hit' in window") {
		t.Error("a script that was added ran")
	}
	b.mu.Lock()
	b.problems = nil // the browser tells of each, as it should
	b.mu.Unlock()
}

// TestServed opens the page as heaptrim view serves it.
func TestServed(t *testing.T) {
	browserPath(t)
	bundle := bundleOf(t, "service")
	tool(t)
	cmd := exec.Command(filepath.Join(built.dir, "heaptrim"), "view", bundle)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	// After the tab, which asks its server as long as it is open.
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(timeout):
			cmd.Process.Kill()
		}
	})
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	url := strings.TrimSpace(string(line[:n]))
	b := newTab(t, desktop)
	b.open(url)
	b.wait("document.querySelector('.served a[href=\"report.json\"]')")
	if n := eval[int](b, "document.querySelectorAll('.served li').length"); n < 5 {
		t.Errorf("%d files of the recording are listed", n)
	}
	b.view("flame")
	if boxes := eval[int](b, flame+".main.stats.boxes"); boxes < 5 {
		t.Errorf("%d boxes", boxes)
	}
	for _, asked := range b.asked() {
		if !strings.HasPrefix(asked, url) && asked != "about:blank" && !strings.HasPrefix(asked, "data:,") {
			t.Errorf("the page asked for %s", asked)
		}
	}
}

// TestPrint: printing shows the whole report without what can only be clicked.
func TestPrint(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "service"))
	b := newTab(t, desktop)
	b.open(p.url)
	pdf, err := chromedp.Run(b.ctx, printPDF)
	if err != nil {
		t.Fatal(err)
	}
	if len(pdf) < 10_000 || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("a print of %d bytes", len(pdf))
	}
	b.do(media("print"))
	if shown := eval[[]string](b, "[...document.querySelectorAll('.tools, nav, .noprint')].filter((e) => e.offsetParent !== null).map((e) => e.className)"); len(shown) > 0 {
		t.Errorf("printed: %v", shown)
	}
	b.shot("service-print")
}
