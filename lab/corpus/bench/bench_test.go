package bench

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

func TestRead(t *testing.T) {
	got := read([]byte(`goos: linux
BenchmarkA-2         	     100	      1504 ns/op	     120 B/op	       3 allocs/op
BenchmarkB/size=1-2  	     100	        17.5 ns/op	  57.14 MB/s	       0.5 B/op	       0 allocs/op
BenchmarkC-2         	     100	      1504 ns/op
PASS
`))
	want := map[string]corpus.Amounts{"BenchmarkA": {B: 120, Allocs: 3}, "BenchmarkB/size=1": {B: 0.5}}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestExactly(t *testing.T) {
	if got, want := Exactly("BenchmarkA/a.b"), `^BenchmarkA$/^a\.b$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBreaks: a test that is missing is broken, unless its package passed without it.
func TestBreaks(t *testing.T) {
	r := results{map[string]bool{"p.TestA": true, "p.TestB": false}, map[string]bool{"p": false, "p/sub": true}}
	for name, want := range map[string]bool{"p.TestA": false, "p.TestB": true, "p.TestC": true, "p/sub.TestPort/127.0.0.1:37183": false, "p/other.TestA": true} {
		if got := r.breaks(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestBroken runs the tests of two copies.
func TestBroken(t *testing.T) {
	write := func(body string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.24\n", "p_test.go": "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestPort(t *testing.T) { t.Run(os.Getenv(\"PWD\"), func(*testing.T) {}) }\n\nfunc TestSum(t *testing.T) {\n" + body + "}\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	good := write("")
	for body, want := range map[string]bool{"": false, "\tt.Fail()\n": true} {
		broken, passed := Copies{Before: good, After: write(body), Limit: time.Minute}.Broken(t.Context(), "./...")
		if slices.Contains(broken, "p.TestSum") != want || len(broken) > 0 != want || passed == 0 {
			t.Errorf("%q: %d passed, broken are %v", body, passed, broken)
		}
	}
}
