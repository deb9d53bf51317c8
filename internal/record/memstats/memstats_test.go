package memstats

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestMemStatsTail(t *testing.T) {
	const tail = "# runtime.MemStats\n# Alloc = 1\n# DebugGC = false\n# MaxRSS = 7\n"
	in := "heap profile: 1\n1: 2 @ 0x1\n#\t0x1\tmain.f\n# runtime.MemStatsNot\n" + strings.Repeat("y", 9000) + "\n" +
		tail
	for _, size := range []int{1, 3, 64, len(in)} {
		var got bytes.Buffer
		w := &Tail{To: &got}
		for p := []byte(in); len(p) > 0; p = p[min(size, len(p)):] {
			if _, err := w.Write(p[:min(size, len(p))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || got.String() != tail {
			t.Errorf("in pieces of %d: %q, %v, want %q", size, &got, err, tail)
		}
	}
	w := &Tail{To: io.Discard}
	if _, err := w.Write([]byte("# runtime.MemStats\n" + strings.Repeat("# x\n", maxTail/4))); err == nil {
		t.Error("an endless tail is accepted")
	}
}
