// Command plant makes cases whose right answer is known: it puts one waste into a public module
// that its makers tuned, and keeps it where the package compiles, its tests pass and one of its
// benchmarks allocates more. The release as it is is then the fix.
//
//	go run ./truth/plant -dir DIR -modules truth/controls.json,fixes/modules.txt -write truth/planted.json
//
// What was tried is kept in -dir and not tried again. Without -modules only the list is written.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "", "`folder` for copies of modules and what was tried, kept from run to run")
	lists := flag.String("modules", "", "`files`, by commas: cases as JSON, or a module, a version and packages a line")
	write := flag.String("write", "", "write the lists of cases to `NAME`.train.json and NAME.validation.json")
	known := flag.String("known", "", "`file` of repositories that are train, one a line")
	only := flag.Bool("prepare", false, "measure the releases, and plant nothing")
	workers := flag.Int("workers", 2, "modules at a time")
	limit := flag.Duration("for", time.Hour, "stop after this `time`")
	flag.Parse()
	if *dir == "" {
		log.Fatal("-dir is needed")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	at, err := filepath.Abs(*dir)
	if err != nil {
		log.Fatal(err)
	}
	if err := (&round{at, *lists, *workers, *only}).all(ctx); err != nil {
		log.Fatal(err)
	}
	if *write != "" {
		if err := publish(at, *write, *known); err != nil {
			log.Fatal(err)
		}
	}
}

// round is one run of the command.
type round struct {
	dir, lists string
	workers    int
	prepare    bool // and nothing more
}

// all plants in the packages of the lists.
func (r *round) all(ctx context.Context) error {
	targets, err := read(r.lists)
	if err != nil {
		return err
	}
	count, err := counted(r.dir)
	if err != nil {
		return err
	}
	byModule := map[string][]*target{}
	var order []string
	for _, t := range targets {
		if byModule[t.Module] == nil {
			order = append(order, t.Module)
		}
		t.only, t.all = r.prepare, count
		byModule[t.Module] = append(byModule[t.Module], t)
	}
	next := make(chan string)
	var wait sync.WaitGroup
	for range r.workers {
		wait.Go(func() {
			for m := range next {
				if err := plantIn(ctx, r.dir, byModule[m]); err != nil {
					log.Printf("%s: %v", m, err)
				}
			}
		})
	}
	for _, m := range order {
		if ctx.Err() == nil {
			next <- m
		}
	}
	close(next)
	wait.Wait()
	return nil
}

// counted are the cases of each mutator in all journals.
func counted(dir string) (map[string]int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "tried.jsonl"))
	out := map[string]int{}
	for _, at := range names {
		j, err := open(at)
		if err != nil {
			return nil, err
		}
		for _, t := range j.rows {
			if t.Case != nil {
				out[t.Case.Planted.Mutator]++
			}
		}
	}
	return out, err
}

// read reads lists of packages, each package once.
func read(lists string) ([]*target, error) {
	var out []*target
	seen := map[string]bool{}
	add := func(module, version, pattern string) {
		if key := module + " " + pattern; !seen[key] {
			seen[key] = true
			out = append(out, &target{Package: source.Package{Module: module, Version: version, Pattern: pattern}})
		}
	}
	for name := range strings.SplitSeq(lists, ",") {
		if name == "" {
			continue
		}
		if strings.HasSuffix(name, ".json") {
			cases, err := corpus.Read(name)
			if err != nil {
				return nil, err
			}
			for _, c := range cases {
				if c.Version != "" {
					add(c.Module, c.Version, c.Pattern())
				}
			}
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			words := strings.Fields(s.Text())
			if len(words) < 3 || words[0] == "#" {
				continue
			}
			for _, p := range words[2:] {
				add(words[0], words[1], p)
			}
		}
	}
	return out, nil
}

// tried is one mutant that was tried, a line of the module's journal.
type tried struct {
	Key  string       `json:"key"`
	Why  string       `json:"why,omitempty"` // it is no case
	Case *corpus.Case `json:"case,omitempty"`
}

// journal is what was tried in a module.
type journal struct {
	name string
	rows []tried
}

func open(name string) (*journal, error) {
	j := &journal{name: name}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return j, nil
	}
	for line := range strings.Lines(string(text)) {
		var t tried
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		j.rows = append(j.rows, t)
	}
	return j, err
}

func (j *journal) has(key string) bool {
	for _, t := range j.rows {
		if t.Key == key {
			return true
		}
	}
	return false
}

func (j *journal) add(t tried) error {
	j.rows = append(j.rows, t)
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}

// note adds a mutant: a case, or why it is none.
func (j *journal) note(key string, c *corpus.Case, why error) error {
	row := tried{Key: key, Case: c}
	if why != nil {
		row.Why = fmt.Sprintf("%.300s", why)
	}
	return j.add(row)
}

// cases counts what is there of the module, and of one mutator in it.
func (j *journal) cases(mutator string) (all, of int) {
	for _, t := range j.rows {
		if t.Case != nil {
			all++
			if t.Case.Planted.Mutator == mutator {
				of++
			}
		}
	}
	return all, of
}
