package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// TestRunsOnce: package testing runs a benchmark once that loops by b.Loop, itself or in a helper.
func TestRunsOnce(t *testing.T) {
	dir := t.TempDir()
	src := `package p

import "testing"

func BenchmarkOwn(b *testing.B) {
	b.Run("sub", func(b *testing.B) {
		for b.Loop() {
		}
	})
}

func BenchmarkHelped(b *testing.B) { helper(b, 3) }

func BenchmarkCounted(b *testing.B) {
	for range b.N {
	}
}

func BenchmarkOther(b *testing.B) { counting(b) }

func helper(b *testing.B, n int) {
	for b.Loop() {
	}
}

func counting(b *testing.B) {
	for range b.N {
	}
}
`
	if err := os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	s := readBenchSource(gocmd.Package{Dir: dir, TestGoFiles: []string{"x_test.go"}})
	for name, want := range map[string]bool{"BenchmarkOwn": true, "BenchmarkHelped": true, "BenchmarkCounted": false, "BenchmarkOther": false} {
		if s.runsOnce(name) != want {
			t.Errorf("%s runs once: not %v", name, want)
		}
	}
}

func TestMeasuredLoops(t *testing.T) {
	f := func(body string, want ...int) {
		t.Helper()
		dir := t.TempDir()
		src := "package p\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {\n" + body + "\n}\n"
		if err := os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		s := readBenchSource(gocmd.Package{Dir: dir, TestGoFiles: []string{"x_test.go"}})
		if len(s.names) != 1 || s.names[0] != "BenchmarkX" {
			t.Fatalf("%s: benchmarks %v", body, s.names)
		}
		var got []int
		for _, l := range s.loops {
			got = append(got, l.First, l.Last)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: loops %v, want %v", body, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: loops %v, want %v", body, got, want)
			}
		}
	}
	f("for i := 0; i < b.N; i++ {\nwork()\n}", 6, 8)
	f("setUp()\nfor b.Loop() {\nwork()\n}", 7, 9)
	f("for range b.N {\nwork()\n}", 6, 8)
	f("for i := b.N; i > 0; i-- {\nwork()\n}", 6, 8)
	f("b.RunParallel(func(pb *testing.PB) {\nown := setUp()\nfor pb.Next() {\nown.work()\n}\n})", 8, 10)
	f("b.RunParallel(body)", 6, 6)
	f("n := b.N\nfor i := range 10 {\nwork(i, n)\n}")
	f("for i := range b.N {\nsetUp(i)\n}\nb.ResetTimer()\nfor range b.N {\nwork()\n}", 10, 12)
	f("b.ResetTimer()\nfor range b.N {\nwork()\n}\nb.StopTimer()", 7, 9)
	f("if plain {\nfor range b.N {\nwork()\n}\nreturn\n}\nsetUp()\nb.ResetTimer()\nfor range b.N {\nwork()\n}", 7, 9, 14, 16)
	f("b.Run(\"sub\", func(b *testing.B) {\nfor range b.N {\nwork()\n}\n})\nb.ResetTimer()\nfor range b.N {\nwork()\n}", 7, 9, 12, 14)
	f("b.Run(\"sub\", func(b *testing.B) {\nfor i := 0; i < b.N; i++ {\nwork()\n}\n})", 7, 9)
}
