package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

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
	f("b.Run(\"sub\", func(b *testing.B) {\nfor i := 0; i < b.N; i++ {\nwork()\n}\n})", 7, 9)
}
