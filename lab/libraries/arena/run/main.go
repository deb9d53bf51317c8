// Command run measures all candidates in interleaved rounds and prints a table of
// medians. In each round every candidate runs once, in shuffled order and in a
// process of its own, so that drift of the machine falls on all alike and no state
// of one reaches the next. Start it in lab/:
//
//	go run ./libraries/arena/run -rounds 10
//
// GOGC applies to the candidates: GOGC=1000 go run …
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const folder = "./libraries/arena"

// samples are the figures of one benchmark by unit, one for each round.
type samples map[string][]float64

type options struct {
	rounds    int
	pattern   string
	benchtime string
	cpus      int
	lock      string
	append    string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 10, "number of rounds")
	flag.StringVar(&o.pattern, "bench", ".", "regular expression of benchmarks")
	flag.StringVar(&o.benchtime, "benchtime", "0.3s", "time for each run")
	flag.IntVar(&o.cpus, "cpu", 2, "GOMAXPROCS of the runs")
	flag.StringVar(&o.lock, "lock", "", "file to hold a lock on during each round, by flock(1)")
	flag.StringVar(&o.append, "raw", "", "file that keeps the output of every run; what it holds is part of the table")
	flag.Parse()
	if err := measure(o); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func measure(o options) error {
	dir, err := os.MkdirTemp("", "arenas")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	exe, prof := filepath.Join(dir, "lab.exe"), filepath.Join(dir, "profile.pb")
	if err := command("GOFLAGS=", "go", "generate", folder); err != nil {
		return err
	}
	if err := command("GOEXPERIMENT=arenas", "go", "test", "-c", "-o", exe, folder); err != nil {
		return err
	}
	if err := command("PROFILE_OUT="+prof, exe, "-test.run=^TestWriteProfile$"); err != nil {
		return err
	}
	os.Setenv("PROFILE", prof)
	out, err := exec.Command(exe, "-test.list", o.pattern).Output()
	if err != nil {
		return fmt.Errorf("list benchmarks: %w", err)
	}
	names := regexp.MustCompile(`(?m)^Benchmark\w+`).FindAllString(string(out), -1)
	var raw []byte
	if o.append != "" {
		if raw, err = os.ReadFile(o.append); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	for round := range o.rounds {
		out, err := oneRound(o, exe, names)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		raw = append(raw, out...)
		if o.append != "" {
			if err := os.WriteFile(o.append, raw, 0o644); err != nil {
				return err
			}
		}
	}
	printTables(parse(raw))
	return nil
}

func command(env string, args ...string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// oneRound runs every benchmark once, under the lock if there is one.
func oneRound(o options, exe string, names []string) ([]byte, error) {
	names = slices.Clone(names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	const script = `for name in "$@"; do
		"$EXE" -test.run='^$' -test.bench="^$name\$" -test.benchtime="$BENCHTIME" -test.cpu="$CPUS" | grep ^Benchmark
	done`
	args := append([]string{"sh", "-c", script, "sh"}, names...)
	if o.lock != "" {
		args = append([]string{"flock", o.lock}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "EXE="+exe, "BENCHTIME="+o.benchtime, "CPUS="+strconv.Itoa(o.cpus))
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func parse(raw []byte) map[string]samples {
	all := make(map[string]samples)
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		words := strings.Fields(sc.Text())
		if len(words) < 4 {
			continue
		}
		name := regexp.MustCompile(`-\d+$`).ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		if all[name] == nil {
			all[name] = make(samples)
		}
		for i := 2; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseFloat(words[i], 64); err == nil {
				all[name][words[i+1]] = append(all[name][words[i+1]], v)
			}
		}
	}
	return all
}

func printTables(all map[string]samples) {
	for _, workload := range []string{"Tree", "Profile", "Append"} {
		var names []string
		for name := range all {
			if strings.HasPrefix(name, workload+"_") {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			continue
		}
		slices.SortFunc(names, func(a, b string) int { return int(all[a].median("cpu-ns/op") - all[b].median("cpu-ns/op")) })
		ratio := func(name, unit, base string) string {
			if all[workload+"_"+base] == nil {
				return "–"
			}
			return fmt.Sprintf("%.3f", all[name].median(unit)/all[workload+"_"+base].median(unit))
		}
		fmt.Printf("\n| %s | n | µs/op | ÷ new | ÷ experiment | ÷ floor | CPU µs/op | ÷ new | ÷ experiment | ÷ floor | B/op | allocs/op |\n|%s\n",
			workload, strings.Repeat("---|", 12))
		for _, name := range names {
			s := all[name]
			fmt.Printf("| %s | %d |", strings.TrimPrefix(name, workload+"_"), len(s["ns/op"]))
			for _, unit := range []string{"ns/op", "cpu-ns/op"} {
				fmt.Printf(" %.0f | %s | %s | %s |", s.median(unit)/1e3, ratio(name, unit, "new"), ratio(name, unit, "experiment"), ratio(name, unit, "floor"))
			}
			fmt.Printf(" %.0f | %.0f |\n", s.median("B/op"), s.median("allocs/op"))
		}
	}
}

func (s samples) median(unit string) float64 {
	v := slices.Sorted(slices.Values(s[unit]))
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
