package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
)

// pair is a program's two test binaries.
type pair struct {
	with, without string
}

// build makes the pairs that the rounds run: the same one each time, or with
// -layouts each time another one, for which the linker has put all functions in
// another order. Where code lies may cost or save some percent, and that is not
// the site's doing; but an order by chance is no program's either: it puts the
// functions of the runtime far from each other.
func (c *config) build(ctx context.Context, p program, dir string) ([]pair, error) {
	var all []pair
	for round := range c.rounds {
		if !c.layouts && round > 0 {
			all = append(all, all[0])
			continue
		}
		layout := 0
		if c.layouts {
			layout = round + 1
		}
		b, err := c.buildPair(ctx, p, dir, layout)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// buildPair makes a pair; layout 0 is the linker's own.
func (c *config) buildPair(ctx context.Context, p program, dir string, layout int) (pair, error) {
	base := filepath.Join(dir, fmt.Sprintf("%s.%d", p.Name, layout))
	b := pair{base + ".with", base + ".without"}
	for _, v := range []struct{ out, tags string }{{b.with, ""}, {b.without, "without"}} {
		args := []string{"test", "-c"}
		target := "./" + p.dir()
		if c.serve {
			args, target = []string{"build"}, servePackage
		}
		args = append(args, "-tags", v.tags, fmt.Sprintf("-ldflags=-randlayout=%d", layout), "-o", v.out, target)
		cmd := exec.CommandContext(ctx, "go", args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("build with tags %q: %w\n%s", v.tags, err, out)
		}
	}
	return b, nil
}

// sameChecksum returns the checksum that both versions print, an error when
// they differ.
func (b pair) sameChecksum(ctx context.Context) (string, error) {
	var sums [2]string
	for i, bin := range []string{b.with, b.without} {
		out, err := execute(ctx, bin, "-test.run=^TestChecksum$")
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(out) {
			if s, ok := strings.CutPrefix(line, "checksum "); ok {
				sums[i] = strings.TrimSpace(s)
			}
		}
	}
	if sums[0] == "" || sums[0] != sums[1] {
		return "", fmt.Errorf("checksum %q with the site, %q without", sums[0], sums[1])
	}
	return sums[0], nil
}

// sample is one run of a benchmark: totals over its operations, without the
// program's set-up.
type sample struct {
	Ops      int     `json:"ops"`
	CPU      float64 `json:"cpu_s"`       // user and system time
	Idle     float64 `json:"idle_mark_s"` // of it, idle marking
	GC       float64 `json:"gc_s"`        // the collector without idle marking, by the runtime's wall-clock accounting
	Cycles   float64 `json:"cycles"`
	BytesOp  float64 `json:"bytes_per_op"`
	AllocsOp float64 `json:"allocs_per_op"`
	NsOp     float64 `json:"ns_per_op"`
}

func (s sample) cpuOp() float64   { return s.CPU / float64(s.Ops) }
func (s sample) busyOp() float64  { return (s.CPU - s.Idle) / float64(s.Ops) }
func (s sample) idle() float64    { return s.Idle / s.CPU }
func (s sample) gcShare() float64 { return s.GC / (s.CPU - s.Idle) }

// warmUp is the share of operations that run before the clock starts: enough
// for some collections.
const warmUp = "0.7"

// bench runs a binary's benchmark; benchtime is as of go test.
func bench(ctx context.Context, bin, benchtime string) (sample, error) {
	out, err := execute(ctx, bin, "-test.run=^$", "-test.bench=^BenchmarkWork$", "-test.benchmem", "-test.benchtime="+benchtime)
	if err != nil {
		return sample{}, err
	}
	s, err := parseBench(out)
	if err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Base(bin), err)
	}
	return s, nil
}

// parseBench reads the benchmark line of a run.
func parseBench(out string) (sample, error) {
	var s sample
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasPrefix(f[0], "BenchmarkWork") {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			return s, fmt.Errorf("iterations of %q: %w", line, err)
		}
		s.Ops = n
		into := map[string]*float64{
			drive.UnitCPU: &s.CPU, drive.UnitIdle: &s.Idle, drive.UnitGC: &s.GC, drive.UnitCycles: &s.Cycles,
			"B/op": &s.BytesOp, "allocs/op": &s.AllocsOp, "ns/op": &s.NsOp,
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return s, fmt.Errorf("value of %s in %q: %w", f[i+1], line, err)
			}
			if dst := into[f[i+1]]; dst != nil {
				*dst = v
			}
		}
	}
	s.CPU, s.Idle, s.GC = s.CPU/1e9, s.Idle/1e9, s.GC/1e9
	if s.Ops == 0 || s.CPU <= 0 {
		return s, fmt.Errorf("no benchmark line with %s in %q", drive.UnitCPU, out)
	}
	return s, nil
}

// Measurement is what removing a site saves.
type Measurement struct {
	Saving    Interval `json:"saving"`     // share of CPU per operation, idle marking left out on both sides
	SavingAll Interval `json:"saving_all"` // the same with idle marking
	With      sample   `json:"with"`       // medians of the runs
	Without   sample   `json:"without"`
	Rounds    []round  `json:"rounds"`
}

// round holds the runs of one round, in the order ABBA: with the site, twice
// without, with.
type round [4]sample

func (r round) saving(perOp func(sample) float64) float64 {
	return 1 - (perOp(r[1])+perOp(r[2]))/(perOp(r[0])+perOp(r[3]))
}

// series is how a program is measured.
type series struct {
	pairs  []pair // in turn
	length time.Duration
	rounds int // at least
	most   int
	first  string // length of the run by which the others' length is chosen
	fixed  int    // operations of each run; 0: as many as take the length
	// run does benchtime operations, as of go test, with one of the binaries
	run func(ctx context.Context, bin, benchtime string) (sample, error)
}

// measure runs the two versions interleaved, a pair each round, and calls after
// at the end of each with the number of rounds so far. Within a round every run
// does the same number of operations. Between rounds the number varies by some
// percent, so that where a run ends within a collection cycle evens out.
func measure(ctx context.Context, s *series, after func(ctx context.Context, rounds int) error) (Measurement, error) {
	var m Measurement
	first, err := s.run(ctx, s.pairs[0].with, s.first)
	if err != nil {
		return m, err
	}
	wanted := s.length.Seconds() * float64(runtime.GOMAXPROCS(0)) / first.cpuOp()
	for r := 0; r < s.rounds || r < s.most && !m.Saving.known(); r++ {
		b := s.pairs[r%len(s.pairs)]
		_, part := math.Modf(float64(r) * math.Phi) // parts of an irrational number's multiples lie evenly
		if s.fixed > 0 {
			wanted = float64(s.fixed)
		}
		n := strconv.Itoa(max(100, int(wanted*(0.93+0.14*part)))) + "x"
		var abba round
		for i, bin := range []string{b.with, b.without, b.without, b.with} {
			if abba[i], err = s.run(ctx, bin, n); err != nil {
				return m, err
			}
		}
		m.Rounds = append(m.Rounds, abba)
		m.summarise()
		if err := after(ctx, len(m.Rounds)); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (m *Measurement) summarise() {
	var busy, all []float64
	var with, without []sample
	for _, r := range m.Rounds {
		busy = append(busy, r.saving(sample.busyOp))
		all = append(all, r.saving(sample.cpuOp))
		with = append(with, r[0], r[3])
		without = append(without, r[1], r[2])
	}
	m.Saving, m.SavingAll = medianInterval(busy), medianInterval(all)
	m.With, m.Without = medianSample(with), medianSample(without)
}

// medianSample takes the median of each field for itself.
func medianSample(runs []sample) sample {
	of := func(field func(*sample) float64) float64 {
		var v []float64
		for i := range runs {
			v = append(v, field(&runs[i]))
		}
		return median(v)
	}
	return sample{
		Ops:      int(of(func(s *sample) float64 { return float64(s.Ops) })),
		CPU:      of(func(s *sample) float64 { return s.CPU }),
		Idle:     of(func(s *sample) float64 { return s.Idle }),
		GC:       of(func(s *sample) float64 { return s.GC }),
		Cycles:   of(func(s *sample) float64 { return s.Cycles }),
		BytesOp:  of(func(s *sample) float64 { return s.BytesOp }),
		AllocsOp: of(func(s *sample) float64 { return s.AllocsOp }),
		NsOp:     of(func(s *sample) float64 { return s.NsOp }),
	}
}

// execute runs a test binary with the collector's settings at their defaults
// and returns its standard output.
func execute(ctx context.Context, bin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, bin, args...)
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS":
		default:
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, drive.WarmUp+"="+warmUp)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(bin), strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
