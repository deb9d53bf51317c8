//go:build unix

// Command run measures ways to steer the collector side by side: every setting in
// a process of its own, in shuffled, interleaved rounds.
//
//	go run ./ballast/run -experiment room -rounds 3 -o room.json
//	go run ./ballast/run -experiment room -rounds 0 -o room.json   # prints the table again
//
// Rounds that are added to a file later are as good as the others: -rounds 1 again and
// again holds a machine for a short time only.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/heaptrim/heaptrim/lab/ballast/gateway"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("experiment", "", strings.Join(names(), ", ")+" or resident")
	rounds := flags.Int("rounds", 3, "how often each setting is measured")
	only := flags.String("only", "", "the settings, separated by commas, instead of the experiment's")
	out := flags.String("o", "", "file that the figures are added to and read from")
	thp := flags.Bool("thp", false, "resident: with transparent huge pages switched to always for the whole machine meanwhile; needs root")
	traced := flags.String("trace", "", "with -child: write an execution trace of what is measured to this file")
	group := flags.String("cgroup", "", "with -child: folder of the cgroup to run in")
	setting := flags.String("child", "", "measure this setting in this process, print JSON")
	pace := flags.Bool("pace", false, "send requests to a child that has started this program: workers, rate, duration")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	err := func() error {
		if *pace {
			return pacer(flags.Args())
		}
		if *name == "resident" {
			return residents(stdout, *setting, *thp)
		}
		e, ok := experiments[*name]
		if !ok {
			return fmt.Errorf("no such experiment: %q", *name)
		}
		if *setting != "" {
			f, err := child{*setting, *traced, *group}.measure(e)
			if err != nil {
				return err
			}
			return json.NewEncoder(stdout).Encode(f)
		}
		if *only != "" {
			e.settings = strings.Split(*only, ",")
		}
		all, err := e.interleave(*name, *rounds, *out, stderr)
		if err != nil {
			return err
		}
		return e.print(stdout, e, all)
	}()
	if err != nil {
		fmt.Fprintln(stderr, "run:", err)
		return 1
	}
	return 0
}

// pacer is the process that sends requests to another's.
func pacer(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("pace: %d arguments, want workers, rate and duration", len(args))
	}
	workers, err1 := strconv.Atoi(args[0])
	rate, err2 := strconv.ParseFloat(args[1], 64)
	duration, err3 := time.ParseDuration(args[2])
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("pace: %w", err)
	}
	if workers <= 0 || !(rate > 0) {
		return fmt.Errorf("pace: %d workers, %v requests a second", workers, rate)
	}
	return gateway.Pace(workers, gateway.Phase{Rate: rate, Duration: duration})
}

// interleave measures, adds to the file, and returns all that is in it.
func (e experiment) interleave(name string, rounds int, file string, progress io.Writer) ([]figures, error) {
	all, err := load(file)
	if err != nil {
		return nil, err
	}
	first := 0
	for _, f := range all {
		first = max(first, f.Round+1)
	}
	for round := first; round < first+rounds; round++ {
		for _, i := range rand.Perm(len(e.settings)) {
			f, err := e.one(name, e.settings[i])
			if err != nil {
				return nil, fmt.Errorf("setting %s: %w", e.settings[i], err)
			}
			f.Round = round
			line, err := json.Marshal(f)
			if err != nil {
				return nil, fmt.Errorf("setting %s: %w", e.settings[i], err)
			}
			fmt.Fprintf(progress, "%s %s\n", name, line)
			all = append(all, f)
			if err := save(file, append(line, '\n')); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// one measures one setting in a process of its own.
func (e experiment) one(name, setting string) (f figures, err error) {
	args := []string{"-experiment", name, "-child", setting}
	if e.contained {
		group, err := makeCgroup()
		if err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, group.remove()) }()
		args = append(args, "-cgroup", group.dir)
	}
	line, err := self(args...)
	if exit := (*exec.ExitError)(nil); e.contained && errors.As(err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signal() == syscall.SIGKILL {
			return figures{Setting: setting, Killed: true}, nil
		}
	}
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(line, &f)
}

// self runs this program again and returns what it prints.
func self(args ...string) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func load(file string) ([]figures, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []figures
	for dec := json.NewDecoder(f); ; {
		var one figures
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, one)
	}
}

func save(file string, line []byte) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

func names() []string {
	var list []string
	for n := range experiments {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}
