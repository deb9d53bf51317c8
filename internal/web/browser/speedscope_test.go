package browser

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// speedscopeVersion is the release that profiles are opened in.
const speedscopeVersion = "1.25.0"

// derivedProfile is the profile that check writes of a recording.
func derivedProfile(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "derived.pb.gz")
	tool(t)("check", "-verify", "0", "-pprof", file, "-html", filepath.Join(t.TempDir(), "page.html"), bundleOf(t, name))
	return file
}

// speedscope installs the viewer, or skips the test.
func speedscope(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm here, which speedscope comes from")
	}
	dir := t.TempDir()
	out, err := exec.Command(npm, "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
		"speedscope@"+speedscopeVersion).CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install speedscope: %v\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", "speedscope", "dist", "release")
}

// TestSpeedscope: speedscope opens the profiles of check, and its list of functions has the
// collector's cost.
func TestSpeedscope(t *testing.T) {
	browserPath(t)
	viewer := httptest.NewServer(http.FileServer(http.Dir(speedscope(t))))
	defer viewer.Close()
	for _, name := range recordings {
		content, err := os.ReadFile(derivedProfile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		b := newTab(t, desktop)
		b.do(chromedp.Navigate(viewer.URL + "/#view=sandwich"))
		b.wait("document.querySelector('input[type=file]')")
		eval[bool](b, `(() => {
			const bytes = Uint8Array.from(atob(%s), c => c.charCodeAt(0));
			const all = new DataTransfer();
			all.items.add(new File([bytes], 'derived.pb.gz'));
			const input = document.querySelector('input[type=file]');
			input.files = all.files;
			return input.dispatchEvent(new Event('change', { bubbles: true }));
		})()`, quote(base64.StdEncoding.EncodeToString(content)))
		b.wait("/derived\\.pb\\.gz|went wrong/.test(document.title + document.body.innerText)")
		b.wait("/GC churn|went wrong/.test(document.body.innerText)")
		if text := b.text("body"); !strings.Contains(text, "GC churn (attributed)") {
			t.Errorf("%s: speedscope shows\n%.1000s", name, text)
		}
	}
}

// TestFlameGraphOfPprof: the flame graph of go tool pprof has the collector's cost in the
// trees of the CPU samples. A tenth may be in others: of rare code nothing may be sampled.
func TestFlameGraphOfPprof(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0") // pprof does not say which port it took
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.Command("go", "tool", "pprof", "-no_browser", "-http="+address, derivedProfile(t, "service"))
	if err := cmd.Start(); err != nil {
		t.Skipf("go tool pprof does not run here: %v", err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // the interrupt is its error
	}()
	page := get(t, "http://"+address+"/ui/flamegraph")
	var graph struct {
		Stacks []struct {
			Value   float64
			Sources []int
		}
		Sources []struct{ FullName string }
	}
	_, data, _ := strings.Cut(page, "stackViewer({")
	if err := json.NewDecoder(strings.NewReader("{" + data)).Decode(&graph); err != nil {
		t.Fatalf("the page of the flame graph: %v", err)
	}
	ran, churn, all := map[string]bool{}, map[string]float64{}, 0.0
	for _, s := range graph.Stacks {
		if len(s.Sources) < 2 {
			continue
		}
		name := func(i int) string { return graph.Sources[s.Sources[i]].FullName }
		if root, leaf := name(1), name(len(s.Sources)-1); strings.HasPrefix(leaf, "GC churn") {
			churn[root] += s.Value
			all += s.Value
		} else if !strings.HasPrefix(leaf, "GC ") {
			ran[root] = true
		}
	}
	apart := 0.0
	for root, v := range churn {
		if !ran[root] {
			apart += v
		}
	}
	if all == 0 || apart > all/10 || churn["runtime.goexit"] > 0 {
		t.Errorf("%.3g of %.3g ns of churn are in trees without CPU samples: %v", apart, all, churn)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	var last error
	for range 50 {
		resp, err := http.Get(url)
		if last = err; err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatal(last)
	return ""
}
