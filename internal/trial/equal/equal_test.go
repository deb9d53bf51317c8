package equal

import (
	"fmt"
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
	var cases []edit
	for part := range strings.SplitSeq(testdata(t, "edits.txt"), "\n=== ") {
		title, rest, ok := strings.Cut(part, "\n")
		if !ok || strings.HasPrefix(part, "#") {
			continue
		}
		want, name, _ := strings.Cut(strings.TrimPrefix(title, "=== "), " ")
		cases = append(cases, edit{want, name, rest})
	}
	const parts = 2 // beside each other: most of the time is that of processes with one thread
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			m := newModule(t)
			for i, e := range cases {
				if i%parts == part {
					t.Run(strings.ReplaceAll(e.name, " ", "-"), func(t *testing.T) { m.compare(t, e) })
				}
			}
		})
	}
}

// edit is a case of testdata/edits.txt.
type edit struct{ want, name, changes string }

// module is the package of testdata, and what compares it with changes.
type module struct {
	file string // of the package
	text string // in it
	c    *Comparer
}

func newModule(t *testing.T) *module {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &module{file: filepath.Join(dir, "p.go"), text: testdata(t, "p.go.txt")}
	for name, content := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.20\n", "p.go": m.text, "p_test.go": testdata(t, "p_test.go.txt")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := version.New(gocmd.Tool{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	m.c = New(b, Options{Explore: 300 * time.Millisecond, Progress: t.Logf})
	return m
}

func (m *module) compare(t *testing.T, e edit) {
	changed := m.text
	for c := range strings.SplitSeq(strings.TrimRight(e.changes, "\n"), "\n---\n") {
		from, to, _ := strings.Cut(c+"\n", "\n>>>\n")
		to = strings.TrimSuffix(to, "\n")
		if strings.Count(changed, from) != 1 {
			t.Fatalf("%q is %d times in the source", from, strings.Count(changed, from))
		}
		changed = strings.Replace(changed, from, to, 1)
	}
	v, err := m.c.Compare(t.Context(), Change{Package: "example.com/p", Files: version.Files{m.file: []byte(changed)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", v)
	if differs := v.Differs != ""; differs != (e.want == "wrong") {
		t.Errorf("differs: %q, and it is %s", v.Differs, e.want)
	}
	if many := 1500; e.name == "cut" && v.Calls < many { // most of them by their sums
		t.Errorf("%d calls of a quick function agree, want at least %d", v.Calls, many)
	}
	if v.Differs == "" && !v.Covers() {
		t.Errorf("%d of %d changed blocks ran, %d calls and %d of tests agree", v.Reached, v.Blocks, v.Calls, v.TestCalls)
	}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
