// Command wrong makes edits that are wrong on purpose: each takes away one thing that a careful edit
// keeps, compiles, and passes the tests of its package. The judge of heaptrim has to reject them.
//
//	go run ./judge/wrong -dir DIR -modules fixes/modules.txt -write judge/wrong.json
//
// What was tried is kept in -dir and not tried again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/trial"
	"github.com/heaptrim/heaptrim/lab/corpus"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "", "`folder` for copies of modules and what was tried, kept from run to run")
	list := flag.String("modules", "fixes/modules.txt", "`file` with a module, a version and packages a line")
	write := flag.String("write", "", "write the list of edits to `file`")
	each := flag.Int("each", 24, "edits to try of a package")
	flag.Parse()
	if *dir == "" {
		log.Fatal("-dir is needed")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	at, err := filepath.Abs(*dir)
	if err != nil {
		log.Fatal(err)
	}
	targets, err := read(*list)
	if err != nil {
		log.Fatal(err)
	}
	var all []tried
	for _, t := range targets {
		if ctx.Err() != nil {
			break
		}
		got, err := t.try(ctx, at, *each)
		if err != nil {
			log.Printf("%s: %v", t.module, err)
		}
		all = append(all, got...)
	}
	summary(all)
	if *write != "" {
		if err := publish(all, *write); err != nil {
			log.Fatal(err)
		}
	}
}

// target is a package to be edited.
type target struct{ module, version, pattern string }

func read(name string) ([]target, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []target
	s := bufio.NewScanner(f)
	for s.Scan() {
		words := strings.Fields(s.Text())
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		for _, p := range words[2:] {
			out = append(out, target{words[0], words[1], p})
		}
	}
	return out, s.Err()
}

// tried is an edit and what became of it.
type tried struct {
	Case corpus.Case `json:"case"`
	Kept bool        `json:"kept"` // it compiles and passes the tests
	Why  string      `json:"why,omitempty"`
}

// try tries edits of a package, or reads what an earlier run tried.
func (t target) try(ctx context.Context, dir string, most int) ([]tried, error) {
	name := strings.ReplaceAll(t.module+" "+strings.TrimPrefix(t.pattern, "."), "/", "_")
	result := filepath.Join(dir, strings.TrimSpace(name)+".json")
	var out []tried
	if text, err := os.ReadFile(result); err == nil {
		return out, json.Unmarshal(text, &out)
	}
	c := corpus.Case{Module: t.module, Version: t.version, Package: t.pattern}
	module := filepath.Join(dir, strings.ReplaceAll(t.module, "/", "_"))
	if _, err := os.Stat(module); errors.Is(err, fs.ErrNotExist) {
		if err := c.Place(module, t.version); err != nil {
			return nil, errors.Join(err, os.RemoveAll(module))
		}
	}
	for name, value := range map[string]string{"GOFLAGS": "-mod=mod -buildvcs=false", "GOWORK": "off"} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	j, err := trial.New(trial.Options{Dir: module})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	path := t.module + strings.TrimPrefix(t.pattern, ".")
	j.More(testsFor)
	before, err := j.State(ctx, path)
	if err != nil {
		return nil, err
	}
	if before.None || before.Late || len(before.Passed) == 0 {
		return nil, fmt.Errorf("no test passes: %s", before.Output)
	}
	folder := filepath.Join(module, filepath.FromSlash(strings.TrimPrefix(t.pattern, ".")))
	mutants, err := mutate(folder, module)
	if err != nil {
		return nil, err
	}
	for i, m := range inTurns(mutants, most) {
		if ctx.Err() != nil {
			return out, nil
		}
		got := tried{Case: c}
		got.Case.ID = fmt.Sprintf("wrong-%s-%d", strings.TrimSpace(name), i)
		got.Case.Wrong, got.Case.Planted = m.kind, &corpus.Planted{Mutator: m.name, Edits: m.edits}
		got.Case.Functions, got.Case.Sites = []string{m.function}, []corpus.Site{{File: m.edits[0].File, Line: m.line}}
		files, err := got.Case.Planted.Changed(module)
		if err != nil {
			return nil, err
		}
		j.More(testsFor)
		after, err := j.Test(ctx, path, files)
		if err != nil {
			return nil, err
		}
		if got.Why = after.Breaks(before); after.Late {
			got.Why = "late"
		}
		got.Kept = got.Why == ""
		fmt.Fprintf(os.Stderr, "%s %s %s:%d %s\n", got.Case.ID, m.name, m.edits[0].File, m.line, got.Why)
		out = append(out, got)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return nil, err
	}
	return out, os.WriteFile(result, text, 0o644)
}

// testsFor limits the tests of a package: one whose tests take longer is left out.
const testsFor = 40 * time.Second

// inTurns takes mutants of all kinds in turns, spread over each kind's list.
func inTurns(all []mutant, most int) []mutant {
	byKind := map[string][]mutant{}
	for _, m := range all {
		byKind[m.name] = append(byKind[m.name], m)
	}
	var out []mutant
	for turn := 0; len(out) < most && turn < 4; turn++ {
		for _, k := range slices.Sorted(maps.Keys(byKind)) {
			list := byKind[k]
			if turn < len(list) && len(out) < most {
				// not the first ones of the first file only
				out = append(out, list[(turn*max(1, len(list)/4))%len(list)])
			}
		}
	}
	return out
}

func summary(all []tried) {
	type count struct{ tried, kept int }
	kinds := map[string]*count{}
	for _, t := range all {
		k := t.Case.Wrong + ": " + t.Case.Planted.Mutator
		if kinds[k] == nil {
			kinds[k] = &count{}
		}
		kinds[k].tried++
		if t.Kept {
			kinds[k].kept++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("%-60s tried %3d kept %3d\n", k, kinds[k].tried, kinds[k].kept)
	}
}

func publish(all []tried, name string) error {
	var list []corpus.Case
	for _, t := range all {
		if t.Kept {
			list = append(list, t.Case)
		}
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
