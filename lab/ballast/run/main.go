//go:build unix

// Command run measures ways to steer the collector side by side: every setting in
// a process of its own, in shuffled, interleaved rounds.
//
//	go run ./ballast/run -experiment room -rounds 3 -o room.json
//	go run ./ballast/run -experiment room -rounds 0 -o room.json   # prints the table again
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
	"strings"
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
	child := flags.String("child", "", "measure this setting in this process, print JSON")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	err := func() error {
		if *name == "resident" {
			return residents(stdout, *child, *thp)
		}
		e, ok := experiments[*name]
		if !ok {
			return fmt.Errorf("no such experiment: %q", *name)
		}
		if *child != "" {
			f, err := measure(e, *child)
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

// interleave measures, adds to the file, and returns all that is in it.
func (e experiment) interleave(name string, rounds int, file string, progress io.Writer) ([]figures, error) {
	all, err := load(file)
	if err != nil {
		return nil, err
	}
	for range rounds {
		for _, i := range rand.Perm(len(e.settings)) {
			line, err := self("-experiment", name, "-child", e.settings[i])
			if err != nil {
				return nil, fmt.Errorf("setting %s: %w", e.settings[i], err)
			}
			var f figures
			if err := json.Unmarshal(line, &f); err != nil {
				return nil, fmt.Errorf("setting %s: %w", e.settings[i], err)
			}
			fmt.Fprintf(progress, "%s %s", name, line)
			all = append(all, f)
			if err := save(file, line); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
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
