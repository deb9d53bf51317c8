package detect_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/detect"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/record/files"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// program builds testdata/program once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "detect-")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "program")
	// The program shortens the period of periodic collections, which only the
	// runtime may do.
	cmd := exec.Command("go", "build", "-ldflags=-checklinkname=0", "-o", out, "./testdata/program")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return out, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// recorded is a program run in one mode, as a diagnosis.
func recorded(t *testing.T, mode string, length time.Duration, underPerf bool) *diagnose.Session {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{path, mode, length.String()}
	if underPerf {
		args = append([]string{"perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "-g", "-o", "perf.data"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1,gcpacertrace=1", "GOGC=", "GOMEMLIMIT=", "GOMAXPROCS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, stderr.Bytes())
	}
	wall := time.Since(start)
	w, err := bundle.Create(filepath.Join(dir, "bundle"), evidence.Manifest{
		Environment: evidence.Environment{GoVersion: runtime.Version(), NumCPU: runtime.NumCPU()}})
	if err != nil {
		t.Fatal(err)
	}
	run := w.Run(evidence.Run{Name: mode})
	add := func(name string, kind evidence.Kind, content io.Reader) {
		t.Helper()
		if err := w.Add(run, evidence.Part{Path: name, Kind: kind, Pass: "service", Wall: wall}, func(out io.Writer) error {
			_, err := io.Copy(out, content)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	add("gctrace.txt", evidence.KindGCTrace, &stderr)
	for name, kind := range map[string]evidence.Kind{"cpu.pprof": evidence.KindCPU, "metrics.jsonl": evidence.KindMetrics} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		add(name, kind, bytes.NewReader(data))
	}
	if underPerf {
		var text bytes.Buffer
		if err := files.PerfScript(t.Context(), filepath.Join(dir, "perf.data"), &text); err != nil {
			t.Fatal(err)
		}
		add("perf.txt", evidence.KindPerf, &text)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(filepath.Join(dir, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	d, err := diagnose.Open(t.Context(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func names(found []finding.Detection) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.Detector)
	}
	return out
}

// TestFires runs a program that has what each detector looks for, and one that
// has nothing of it.
func TestFires(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program a dozen times")
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the program asks Unix for its processor time")
	}
	f := func(mode string, length time.Duration, want ...string) {
		t.Helper()
		missing := func(found []finding.Detection) bool {
			return slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(names(found), w) })
		}
		found := detect.Run(recorded(t, mode, length, false).Signals())
		// On a busy machine few samples are of short work: then it runs longer.
		for range 2 {
			if !missing(found) {
				break
			}
			length *= 2
			found = detect.Run(recorded(t, mode, length, false).Signals())
		}
		got := names(found)
		if missing(found) {
			t.Errorf("%s: found %q, want %q", mode, got, want)
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%s: found %+v, want nothing", mode, found)
		}
		for _, d := range found {
			t.Logf("%s: %s: %s", mode, d.Detector, d.Evidence)
			if d.Title == "" || d.Text == "" || d.Evidence == "" || d.Amount <= 0 || d.Run != mode {
				t.Errorf("%s: %+v lacks a text or an amount", mode, d)
			}
			if _, ok := cures.Find(d.Code); !ok {
				t.Errorf("%s: %s names the cure %q, which the catalogue does not have", mode, d.Detector, d.Code)
			}
		}
	}
	f("clean", 1500*time.Millisecond)
	f("finalizers", time.Second, "finalizers")
	f("cleanups", time.Second, "finalizers")
	f("backlog", time.Second, "finalizer-backlog")
	f("stack-scan", time.Second, "stack-scan")
	f("stack-growth", time.Second, "stack-growth")
	f("stack-shrink", 3*time.Second, "stack-shrink")
	f("forced", time.Second, "forced-collections")
	f("periodic", time.Second, "periodic-collections")
	f("tiny", time.Second, "tiny-heap")
	f("limiter", 4*time.Second, "limiter")
	f("workers", 1500*time.Millisecond, "worker-surplus")
	f("refault", 4*time.Second, "refault") // few samples are of giving back
}

// TestFiresUnderPerf: with the kernel's stacks the page faults are in the
// evidence.
func TestFiresUnderPerf(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program")
	}
	if exec.Command("perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("perf cannot record here")
	}
	d := recorded(t, "refault", 1500*time.Millisecond, true)
	found := detect.Run(d.Signals())
	i := slices.Index(names(found), "refault")
	if i < 0 || !strings.Contains(found[i].Evidence, "page faults ") || !strings.Contains(found[i].Evidence, "main.refault") {
		t.Errorf("found %+v, want refault with page faults", found)
	}
	if enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && !strings.Contains(string(enabled), "[never]") {
		found := detect.Run(recorded(t, "huge-pages", time.Second, true).Signals())
		if i := slices.Index(names(found), "huge-page-work"); i < 0 || !strings.Contains(found[i].Evidence, "main.hugePages") {
			t.Errorf("found %+v, want huge-page-work", found)
		}
	}
	if found := names(detect.Run(recorded(t, "clean", time.Second, true).Signals())); len(found) > 0 {
		t.Errorf("clean under perf: found %q", found)
	}
}

// stacks is what perf script prints of n samples with the kernel's functions
// above a worker of the collector.
func stacks(n int, functions ...string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "chat 7/8 1.%06d: 1000000 cpu-clock:\n", i)
		for _, f := range functions {
			fmt.Fprintf(&b, "\tffffffff81000c82 %s ([kernel.kallsyms])\n", f)
		}
		b.WriteString("\t2f06d runtime.scanobject (/srv/chat)\n\t2cf94 runtime.gcDrain (/srv/chat)\n" +
			"\t2cf95 runtime.gcBgMarkWorker (/srv/chat)\n\t7f601 runtime.goexit.abi0 (/srv/chat)\n\n")
	}
	return b.String()
}

// TestNUMA has stacks as a machine with several nodes gives them, of the
// kernels of then and now: this test must run where there is one node.
func TestNUMA(t *testing.T) {
	f := func(want []string, text string) {
		t.Helper()
		w, err := bundle.Create(filepath.Join(t.TempDir(), "bundle"), evidence.Manifest{})
		if err != nil {
			t.Fatal(err)
		}
		run := w.Run(evidence.Run{Name: "files"})
		if err := w.Add(run, evidence.Part{Path: "perf.txt", Kind: evidence.KindPerf, Pass: "files"}, func(out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(true); err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Open(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		d, err := diagnose.Open(t.Context(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := detect.Run(d.Signals())
		advice := detect.Advice(nil, found, 1)
		if got := names(found); !slices.Equal(got, want) || len(advice) != len(want) {
			t.Errorf("found %q and %d pieces of advice, want %q", got, len(advice), want)
		}
	}
	quiet := stacks(200)
	f(nil, quiet)
	f([]string{"numa-balancing"}, quiet+stacks(30, "copy_page", "migrate_pages", "migrate_misplaced_page", "do_numa_page", "handle_mm_fault", "__do_page_fault", "page_fault"))
	f([]string{"numa-balancing"}, quiet+stacks(30, "folio_copy", "migrate_misplaced_folio", "do_numa_page", "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"))
	f([]string{"numa-balancing"}, quiet+stacks(30, "change_pte_range", "change_prot_numa", "task_numa_work", "task_work_run", "irqentry_exit_to_user_mode"))
	f([]string{"huge-page-work"}, quiet+stacks(30, "clear_huge_page", "do_huge_pmd_anonymous_page", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"))
	f(nil, quiet+stacks(1, "task_numa_work")) // one sample is none
}

// TestAdviceOrder: what saves most comes first, beside the prescription's own.
func TestAdviceOrder(t *testing.T) {
	saves := func(v float64) stats.Interval { return stats.Interval{Value: v, Low: v, High: v} }
	own := []finding.Advice{{Title: "own", Remedy: finding.Remedy{Saves: finding.Prediction{CPU: saves(0.03)}}}}
	found := []finding.Detection{{Title: "no figure"}, {Title: "some", Saves: saves(0.02)}, {Title: "most", Saves: saves(0.04)}}
	var titles []string
	for _, a := range detect.Advice(own, found, 1) {
		titles = append(titles, a.Title)
	}
	if want := []string{"most", "own", "some", "no figure"}; !slices.Equal(titles, want) {
		t.Errorf("advice %q, want %q", titles, want)
	}
}

// TestCatalogue: every cure that a detector names is in the catalogue, and
// every detector says what it needs.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range detect.Detectors() {
		if d.Name == "" || d.Needs == "" || seen[d.Name] {
			t.Errorf("detector %+v", d)
		}
		seen[d.Name] = true
	}
	for _, code := range []string{"finalizer-cost", "goroutine-stacks", "numa-bind", "huge-pages", "gc-headroom", "skip-work", "upgrade-go"} {
		if _, ok := cures.Find(code); !ok {
			t.Errorf("no cure %s", code)
		}
	}
}

// TestSilent: without evidence there is nothing to say.
func TestSilent(t *testing.T) {
	for _, s := range []diagnose.Signals{{}, {Logged: true, Window: time.Hour}} {
		if found := detect.Run([]diagnose.Signals{s}); len(found) > 0 {
			t.Errorf("found %+v in nothing", found)
		}
	}
}
