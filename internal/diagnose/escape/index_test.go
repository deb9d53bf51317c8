package escape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/escapes"
)

// wanted is a comment of testdata/reason: the kind of the line's allocation
// and a part of the reason's text.
type wanted struct {
	kind finding.Kind
	text string
}

// wantedLines reads the comments of a source file.
func wantedLines(t *testing.T, file string) map[int]wanted {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]wanted{}
	for i, line := range strings.Split(string(src), "\n") {
		_, comment, ok := strings.Cut(line, " // ")
		if !ok || strings.HasPrefix(line, "//") {
			continue
		}
		if kind, text, ok := strings.Cut(comment, ":"); ok {
			want[i+1] = wanted{finding.Kind(kind), strings.TrimSpace(text)}
		}
	}
	if len(want) < 30 {
		t.Fatalf("%s has %d comments", file, len(want))
	}
	return want
}

// recorded runs testdata/reason and returns the stacks it prints, cut behind
// the first frame with a comment.
func recorded(t *testing.T, dir string, env []string, want map[int]wanted) [][]evidence.Frame {
	t.Helper()
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, env
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %s: %v", dir, err)
	}
	var stacks [][]evidence.Frame
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var stack []evidence.Frame
		if err := json.Unmarshal(lines.Bytes(), &stack); err != nil {
			t.Fatal(err)
		}
		for i, f := range stack {
			if strings.HasPrefix(f.Function, "runtime.gc") {
				break // the runtime's own, where an allocation waits for a collection
			}
			if _, ok := want[f.Line]; ok && strings.HasPrefix(f.Function, "main.") {
				stacks = append(stacks, stack[:i+1])
				break
			}
		}
	}
	return stacks
}

// forToolchains runs a test for each supported toolchain that is there.
func forToolchains(t *testing.T, dir string, test func(t *testing.T, version string, env []string)) {
	if testing.Short() {
		t.Skip("compiles with three toolchains")
	}
	for _, version := range []string{"go1.25.13", "go1.26.8", "go1.27.4"} {
		t.Run(version, func(t *testing.T) {
			env := append(os.Environ(), "GOTOOLCHAIN="+version, "GOFLAGS=")
			probe := exec.Command("go", "version")
			probe.Env, probe.Dir = env, dir
			if out, err := probe.CombinedOutput(); err != nil || !strings.Contains(string(out), version) {
				t.Skipf("no %s here: %s", version, out)
			}
			test(t, version, env)
		})
	}
}

// Every allocation of a real program gets the kind and the reason that its
// line states, from the runtime's own stacks and the compiler's own output.
func TestReasonsOfRealStacks(t *testing.T) {
	dir, err := filepath.Abs("testdata/reason")
	if err != nil {
		t.Fatal(err)
	}
	want := wantedLines(t, filepath.Join(dir, "main.go"))
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	source := alloc.NewSource(text)
	forToolchains(t, dir, func(t *testing.T, version string, env []string) {
		var index Index
		found, _, err := escapes.Run(t.Context(),
			escapes.RunOptions{Dir: dir, Env: env, Packages: []string{"example.com/reason"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			index.Add(e)
		}
		seen := map[int]bool{}
		for _, whole := range recorded(t, dir, env, want) {
			site := whole[len(whole)-1]
			w := want[site.Line]
			frames, fn := split(whole)
			if w.kind == finding.KindBoxing && stack.PackageOf(fn) != "main" {
				continue // fmt's own allocations
			}
			seen[site.Line] = true
			kind := alloc.Of(frames, fn, "")
			if kind == finding.KindUnknown && version != "go1.25.13" {
				// Raw stacks of newer runtimes lack the runtime's frames where the
				// compiled code called a specialised newobject.
				kind = finding.KindNew
			}
			if kind == finding.KindUnknown && stack.PackageOf(fn) == "main" {
				kind = source.At(site.Line)
			}
			reason := Explain(whole, kind, &index)
			kind = RefineKind(kind, reason)
			if reason == nil || !strings.Contains(reason.Text, w.text) {
				t.Errorf("line %d (%s): reason %s, want %q", site.Line, w.kind, show(reason), w.text)
			}
			if kind != w.kind {
				t.Errorf("line %d: kind %q, want %q\n%v", site.Line, kind, w.kind, whole)
			}
		}
		for line, w := range want {
			if !seen[line] {
				t.Errorf("line %d: no %s was recorded", line, w.kind)
			}
		}
	})
}

// split parts a stack into the runtime's functions and the first other one.
func split(whole []evidence.Frame) (frames []string, fn string) {
	for _, f := range whole {
		if !stack.IsRuntime(stack.PackageOf(f.Function), f.Function) {
			return frames, f.Function
		}
		frames = append(frames, f.Function)
	}
	return frames, ""
}

func show(r *finding.Escape) string {
	if r == nil {
		return "none"
	}
	return strconv.Quote(r.Text)
}

// The syntax may leave a kind open, but must not name a wrong one. Nearly all
// of the program's lines are clear.
func TestKindAtLineAgreesWithRuns(t *testing.T) {
	const file = "testdata/reason/main.go"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds := alloc.NewSource(src)
	open, all := 0, 0
	for line, w := range wantedLines(t, file) {
		if w.kind == finding.KindString || w.kind == finding.KindReflect || strings.HasPrefix(w.text, "has to grow") {
			continue // made inside a library
		}
		all++
		switch got := kinds.At(line); got {
		case w.kind:
		case finding.KindUnknown:
			open++
		default:
			t.Errorf("line %d: kind %q, want %q", line, got, w.kind)
		}
	}
	if open > all/3 {
		t.Errorf("the kind is open on %d of %d lines", open, all)
	}
}
