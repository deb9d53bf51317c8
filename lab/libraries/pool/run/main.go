// Command run measures all pools in interleaved rounds and prints the medians:
//
//	go run ./libraries/pool/run -rounds 11 Allocloop GetPut16 ProdCons
//
// In every round each pool runs once for each benchmark, in shuffled order, in a
// process of its own: so that neither a pool's nor the collector's state reaches
// the next, and what else the machine does falls on all alike. Figures are
// processor time of the process per operation unless they say otherwise; "over" is
// what lies above the floor, a loop of the same work without a pool.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	rounds int
	time   string
	cpus   string
	lock   string
	only   string
	keep   string
}

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rounds, "rounds", 11, "rounds")
	flags.StringVar(&o.time, "benchtime", "100ms", "time of one run")
	flags.StringVar(&o.cpus, "cpu", "1,2", "values of GOMAXPROCS, comma-separated")
	flags.StringVar(&o.lock, "lock", "", "`file` to lock with flock(1) for every round")
	flags.StringVar(&o.only, "only", "", "comma-separated `pools`; empty means all")
	flags.StringVar(&o.keep, "keep", "", "`file` to append the raw benchmark lines to")
	if flags.Parse(args) != nil {
		return 2
	}
	groups := flags.Args()
	if len(groups) == 0 {
		groups = []string{"Allocloop", "AllocloopHalf", "GetPut1", "GetPut16", "GetPutCrowd", "GetPutGC", "GetPutGCShuffled", "ProdCons", "Typed", "Values", "Values16", "ValuesCrowd", "ValuesProdCons", "Gunzip", "Wrappers", "Retained", "Waste"}
	}
	if err := measure(o, groups, stdout); err != nil {
		fmt.Fprintln(stderr, "run:", err)
		return 2
	}
	return 0
}

func measure(o options, groups []string, stdout io.Writer) error {
	dir, err := os.MkdirTemp("", "pools")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "pool.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, "github.com/heaptrim/heaptrim/lab/libraries/pool").CombinedOutput(); err != nil {
		return fmt.Errorf("build the benchmarks: %w\n%s", err, out)
	}
	var results samples
	for _, group := range groups {
		names, err := list(binary, group)
		if err != nil {
			return err
		}
		if o.only != "" {
			names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(strings.Split(o.only, ","), n) })
		}
		for range o.rounds {
			rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			out, err := round(o, binary, group, names)
			if err != nil {
				return err
			}
			results.read(out)
			if err := keep(o.keep, out); err != nil {
				return err
			}
		}
		results.print(stdout, group)
	}
	return nil
}

func keep(file string, lines []byte) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(lines); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// list returns the pools that take part in a benchmark.
func list(binary, group string) ([]string, error) {
	out, err := exec.Command(binary, "-test.run=^$", "-test.bench=^Benchmark"+group+"$", "-test.benchtime=1x", "-test.cpu=1").Output()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", group, err)
	}
	var names []string
	for line := range strings.SplitSeq(string(out), "\n") {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "\t")
		if sub, ok := strings.CutPrefix(name, "Benchmark"+group+"/"); ok {
			names = append(names, sub)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no benchmark %s", group)
	}
	return names, nil
}

// round runs every pool once, under the lock if there is one.
func round(o options, binary, group string, names []string) ([]byte, error) {
	var script strings.Builder
	time := o.time
	if group == "Retained" || group == "Waste" {
		time = "1x"
	}
	for _, name := range names {
		pattern := "^Benchmark" + group + "$/^" + strings.NewReplacer("+", `\+`, ".", `\.`).Replace(name) + "$"
		for cpu := range strings.SplitSeq(o.cpus, ",") {
			fmt.Fprintf(&script, "%s -test.run='^$' -test.bench='%s' -test.benchtime=%s -test.cpu=%s || exit\n", binary, pattern, time, cpu)
		}
	}
	args := []string{"sh", "-c", script.String()}
	if o.lock != "" {
		args = append([]string{"flock", o.lock}, args...)
	}
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", group, err, out)
	}
	return out, nil
}

// samples are the values of every metric, by benchmark.
type samples struct {
	order  []string
	values map[string]map[string][]float64
}

func (s *samples) read(out []byte) {
	if s.values == nil {
		s.values = make(map[string]map[string][]float64)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if s.values[name] == nil {
			s.values[name] = make(map[string][]float64)
			s.order = append(s.order, name)
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				s.values[name][f[i+1]] = append(s.values[name][f[i+1]], v)
			}
		}
	}
}

// median returns the median of a metric, and whether there is any.
func (s *samples) median(name, unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(s.values[name][unit]))
	switch n := len(v); {
	case n == 0:
		return 0, false
	case n%2 == 1:
		return v[n/2], true
	default:
		return (v[n/2-1] + v[n/2]) / 2, true
	}
}
