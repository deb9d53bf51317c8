package equal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// TestCompare changes one function at a time. A change that a caller can see has to be found,
// one that nobody can see must not be.
func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "p.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join("testdata", "p_test.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.20\n", "p.go": string(text), "p_test.go": string(tests)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := version.New(gocmd.Tool{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c := New(b, Options{Explore: time.Second, Progress: t.Logf})
	edits, err := os.ReadFile(filepath.Join("testdata", "edits.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(edits), "\n=== ") {
		title, rest, ok := strings.Cut(part, "\n")
		if !ok || strings.HasPrefix(part, "#") {
			continue
		}
		want, name, _ := strings.Cut(strings.TrimPrefix(title, "=== "), " ")
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			changed := string(text)
			for e := range strings.SplitSeq(strings.TrimRight(rest, "\n"), "\n---\n") {
				from, to, _ := strings.Cut(e+"\n", "\n>>>\n")
				to = strings.TrimSuffix(to, "\n")
				if strings.Count(changed, from) != 1 {
					t.Fatalf("%q is %d times in the source", from, strings.Count(changed, from))
				}
				changed = strings.Replace(changed, from, to, 1)
			}
			v, err := c.Compare(t.Context(), Change{Package: "example.com/p", Files: version.Files{filepath.Join(dir, "p.go"): []byte(changed)}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", v)
			if differs := v.Differs != ""; differs != (want == "wrong") {
				t.Errorf("differs: %q, and it is %s", v.Differs, want)
			}
			if many := 5000; name == "cut" && v.Calls < many { // most of them by their sums
				t.Errorf("%d calls of a quick function agree, want at least %d", v.Calls, many)
			}
			if v.Differs == "" && !v.Covers() {
				t.Errorf("%d of %d changed blocks ran, %d calls and %d of tests agree", v.Reached, v.Blocks, v.Calls, v.TestCalls)
			}
		})
	}
}
