// Command aa asks how often heaptrim prove calls a difference where there is
// none: it compares benchmarks of public modules with themselves, again and
// again, on whatever machine it runs on.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/prove/heaptrim"
)

const (
	defaultModules  = "github.com/google/uuid@v1.6.0,github.com/cespare/xxhash/v2@v2.3.0,github.com/prometheus/common@v0.69.0,github.com/expr-lang/expr@v1.17.8"
	defaultPackages = "github.com/google/uuid,github.com/cespare/xxhash/v2,github.com/prometheus/common/model,github.com/expr-lang/expr"
	defaultBench    = "^(BenchmarkParse|BenchmarkUUID_String|BenchmarkUUID_MarshalJSON|BenchmarkNew|BenchmarkMetric|BenchmarkLabelSetStringMethod|" +
		"BenchmarkMetricToFingerprintTriple|Benchmark_filterMap|Benchmark_len|Benchmark_envStruct)$"
)

func main() {
	os.Exit(run())
}

// trial says what to compare with itself.
type trial struct {
	binary, modules, packages, bench, budget string
}

func run() int {
	var t trial
	flag.StringVar(&t.binary, "heaptrim", "heaptrim", "the tool to judge")
	flag.StringVar(&t.modules, "modules", defaultModules, "module@version, comma-separated")
	flag.StringVar(&t.packages, "packages", defaultPackages, "whose benchmarks run, comma-separated")
	flag.StringVar(&t.bench, "bench", defaultBench, "which benchmarks")
	flag.StringVar(&t.budget, "budget", "30s", "of each command")
	n := flag.Int("n", 40, "commands")
	flag.Parse()
	dir, err := os.MkdirTemp("", "aa-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = t.module(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ran, called := 0, 0
	for i := range *n {
		start := time.Now()
		p, err := heaptrim.Prove(t.binary, dir, nil, append([]string{"-a", "work", "-b", "work", "-bench", t.bench, "-budget", t.budget}, strings.Split(t.packages, ",")...)...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "command %d: %v\n", i+1, err)
			return 1
		}
		ran++
		if wrong(p) {
			called++
		}
		fmt.Printf("%2d  load %s  %3.0f s  %s\n", i+1, loadAverage(), time.Since(start).Seconds(), describe(p))
	}
	low, high := clopperPearson(called, ran)
	fmt.Printf("%d of %d commands call a difference: %.1f %% (95 %% interval %.1f to %.1f %%)\n", called, ran, 100*float64(called)/float64(ran), 100*low, 100*high)
	return 0
}

// wrong tells whether a comparison of a program with itself found anything.
func wrong(p heaptrim.Proof) bool {
	for _, c := range p.Comparisons {
		if c.Outcome != "same" && c.Outcome != "unclear" {
			return true
		}
	}
	return p.Exit != 0
}

func describe(p heaptrim.Proof) string {
	counts := map[string]int{}
	pairs := math.MaxInt
	for _, c := range p.Comparisons {
		counts[c.Outcome]++
		pairs = min(pairs, c.Pairs)
	}
	return fmt.Sprintf("%d benchmarks, %d or more pairs: %v  %s", len(p.Comparisons), pairs, counts, p.Verdict.Sentence)
}

// module makes a module in dir that requires the modules, with what their
// tests need.
func (t trial) module(dir string) error {
	imports := "package aa\n\nimport (\n"
	for _, p := range strings.Split(t.packages, ",") {
		imports += fmt.Sprintf("\t_ %q\n", p)
	}
	if err := os.WriteFile(filepath.Join(dir, "aa.go"), []byte(imports+")\n"), 0o644); err != nil {
		return err
	}
	steps := [][]string{{"mod", "init", "example.com/aa"}, append([]string{"get"}, strings.Split(t.modules, ",")...)}
	steps = append(steps, append([]string{"get", "-t"}, strings.Split(t.packages, ",")...))
	for _, args := range steps {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

// clopperPearson is the exact 95 % interval of a share of k in n, by bisection
// of the binomial tails.
func clopperPearson(k, n int) (low, high float64) {
	tail := func(p float64, from, to int) float64 {
		sum := 0.0
		for i := from; i <= to; i++ {
			sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	bisect := func(above func(p float64) bool) float64 {
		a, b := 0.0, 1.0
		for range 60 {
			if mid := (a + b) / 2; above(mid) {
				b = mid
			} else {
				a = mid
			}
		}
		return (a + b) / 2
	}
	low, high = 0, 1
	if k > 0 {
		low = bisect(func(p float64) bool { return tail(p, k, n) > 0.025 })
	}
	if k < n {
		high = bisect(func(p float64) bool { return tail(p, 0, k) < 0.025 })
	}
	return low, high
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
