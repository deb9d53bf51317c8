package gen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Benchmarks writes a bundle of so many benchmarks, each with small profiles of its own.
func (p *Program) Benchmarks(dir string, n int) error {
	m := evidence.Manifest{
		Schema: "heaptrim.bundle/1", Tool: "lab", Created: time.Unix(1_700_000_000, 0), Complete: true,
		Target: evidence.Target{Kind: evidence.TargetPackages, Args: []string{"./..."}},
	}
	for i := range n {
		run := evidence.Run{Name: fmt.Sprintf("BenchmarkWork%d", i), Package: "example.com/service"}
		for _, part := range []struct {
			kind  evidence.Kind
			write func(io.Writer, int) error
		}{{evidence.KindCPU, p.CPU}, {evidence.KindAllocs, p.Allocs}} {
			path := fmt.Sprintf("work%d/%s.pprof", i, part.kind)
			run.Parts = append(run.Parts, evidence.Part{
				Path: path, Kind: part.kind, Pass: evidence.PassTiming, Ops: 1000, Wall: time.Second, Rate: 512 << 10,
			})
			if err := WriteFile(filepath.Join(dir, path), func(w io.Writer) error { return part.write(w, 200) }); err != nil {
				return err
			}
		}
		m.Runs = append(m.Runs, run)
	}
	return WriteFile(filepath.Join(dir, "manifest.json"), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
}

// WriteFile writes a file, in a folder that it makes where there is none.
func WriteFile(path string, fill func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}
