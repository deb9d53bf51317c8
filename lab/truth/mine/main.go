// Command mine looks in the histories of public repositories for fixes of allocations, and
// measures the releases before and after them. It proposes cases: where less is allocated, and
// the functions that do. A reader then says what the change was.
//
//	go run ./truth/mine -mirrors HISTORIES -dir DIR [-repositories FILE] [-commits FILE] [-pairs 8] [-for 1h]
//	go run ./truth/mine -mirrors HISTORIES -dir DIR -picked FILE
//
// HISTORIES has a git directory owner+name/repo for each repository; they are read, and not built:
// releases come through the module proxy. What was measured is kept in DIR and not measured
// again. With -card KEY what is known of one pair is printed, to read.
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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// miner is what the command works on.
type miner struct {
	mirrors, dir string
	pairs        int // of a repository
	commits      map[string]bool
	journal      *journal
	cases        int  // of a repository, that are enough
	least        int  // that a commit of a pair must speak of allocations, 1 to 4
	any          bool // pairs whose commits say nothing of allocations, too
}

func main() {
	log.SetFlags(0)
	m := miner{commits: map[string]bool{}}
	flag.StringVar(&m.mirrors, "mirrors", "", "`folder` of git directories")
	flag.StringVar(&m.dir, "dir", "", "`folder` for copies of modules and what was measured, kept from run to run")
	flag.IntVar(&m.pairs, "pairs", 8, "pairs of releases of a repository that are measured")
	flag.IntVar(&m.cases, "enough", 10, "benchmarks of a repository that allocate less, after which the next one has its turn")
	flag.BoolVar(&m.any, "any", false, "measure pairs whose commits do not speak of allocations, too, after the others")
	flag.IntVar(&m.least, "least", 1, "how much a commit of a pair must speak of allocations: 1 of speed, 2 in its text, 3 in its subject")
	list := flag.String("repositories", "", "`file` with a repository a line, as owner/name; default: all of the histories")
	commits := flag.String("commits", "", "`file` of commits that count whatever their message: repository and hash, by tabs")
	pickedList := flag.String("picked", "", "measure the commits of this `file` alone, in the releases around them: repository and hash, by tabs")
	workers := flag.Int("workers", 1, "repositories at a time")
	limit := flag.Duration("for", time.Hour, "stop after this `time`")
	key := flag.String("card", "", "print what is known of pairs whose `key` starts so")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	err := m.open(*commits)
	if err == nil && *key != "" {
		err = m.cards(ctx, *key)
	} else if err == nil && *pickedList != "" {
		err = m.picked(ctx, *pickedList)
	} else if err == nil {
		err = m.all(ctx, *list, *workers)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// open reads what was measured, and the list of commits.
func (m *miner) open(commits string) error {
	if m.mirrors == "" || m.dir == "" {
		return fmt.Errorf("-mirrors and -dir are needed")
	}
	var err error
	if m.dir, err = filepath.Abs(m.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	if m.journal, err = openJournal(filepath.Join(m.dir, "pairs.jsonl")); err != nil || commits == "" {
		return err
	}
	return eachLine(commits, func(line string) {
		if words := strings.Split(line, "\t"); len(words) > 1 {
			m.commits[words[1]] = true
		}
	})
}

func eachLine(name string, visit func(string)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		visit(s.Text())
	}
	return s.Err()
}

// all measures pairs of the repositories.
func (m *miner) all(ctx context.Context, list string, workers int) error {
	var names []string
	if list != "" {
		if err := eachLine(list, func(line string) {
			if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
				names = append(names, name)
			}
		}); err != nil {
			return err
		}
	} else {
		dirs, err := filepath.Glob(filepath.Join(m.mirrors, "*", "repo"))
		if err != nil {
			return err
		}
		for _, d := range dirs {
			names = append(names, strings.Replace(filepath.Base(filepath.Dir(d)), "+", "/", 1))
		}
	}
	next := make(chan string)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for name := range next {
				if err := m.repository(ctx, name); err != nil {
					log.Printf("%s: %v", name, err)
				}
			}
		})
	}
	for _, name := range names {
		if ctx.Err() == nil {
			next <- name
		}
	}
	close(next)
	wait.Wait()
	return nil
}

// repository measures the best pairs of one repository.
func (m *miner) repository(ctx context.Context, name string) error {
	h := m.history(name)
	folders, err := h.folders(ctx)
	if err != nil {
		return err
	}
	var all []pair
	for _, folder := range folders[:min(len(folders), 12)] {
		some, err := h.pairs(ctx, folder)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b pair) int { return b.Score/10 - a.Score/10 })
	found, done := 0, 0
	for _, p := range all {
		if !m.any && p.Score/10 < m.least {
			continue
		}
		if done >= m.pairs || found >= m.cases || ctx.Err() != nil {
			break
		}
		done++
		if e, ok := m.journal.get(p.key()); ok {
			found += len(e.Rows)
			continue
		}
		e := m.measure(ctx, h, p)
		if ctx.Err() != nil {
			break
		}
		found += len(e.Rows)
		if err := m.journal.add(e); err != nil {
			return err
		}
		log.Printf("%s: %d rows of %v %.200s", p.key(), len(e.Rows), e.Packages, e.Why)
	}
	log.Printf("%s: %d pairs of %d, %d rows", name, done, len(all), found)
	return nil
}

func (m *miner) history(name string) *history {
	return &history{git: filepath.Join(m.mirrors, strings.Replace(name, "/", "+", 1), "repo"), name: name, commits: m.commits, any: m.any}
}

// pairLimit is how long one pair may take.
const pairLimit = 10 * time.Minute

// measure lays out a pair and measures its packages.
func (m *miner) measure(ctx context.Context, h *history, p pair) entry {
	ctx, stop := context.WithTimeout(ctx, pairLimit)
	defer stop()
	e := entry{Key: p.key(), Pair: p, Packages: h.packages(ctx, p)}
	if len(e.Packages) == 0 {
		e.Why = "no benchmark of what was changed"
		return e
	}
	work, err := os.MkdirTemp(m.dir, "work")
	if err != nil {
		e.Why = err.Error()
		return e
	}
	defer os.RemoveAll(work)
	s, err := lay(p, "./"+e.Packages[0], work)
	if err != nil {
		e.Why = fmt.Sprintf("%.500s", err)
		return e
	}
	s.only = p.Only
	e.License = license(s.after.Dir)
	var whys []string
	for _, dir := range e.Packages {
		pattern := "./" + dir
		if dir == "." {
			pattern = "."
		}
		rows, err := s.in(pattern).measure(ctx)
		e.Rows = append(e.Rows, rows...)
		if err != nil {
			whys = append(whys, fmt.Sprintf("%s: %.300s", pattern, err))
		}
	}
	e.Why = strings.Join(whys, "; ")
	return e
}

// entry is a pair that was measured, a line of the journal.
type entry struct {
	Key      string   `json:"key"`
	Pair     pair     `json:"pair"`
	Packages []string `json:"packages"`
	License  string   `json:"license,omitempty"`
	Rows     []row    `json:"rows,omitempty"`
	Why      string   `json:"why,omitempty"` // something was not measured
}

// journal is what was measured.
type journal struct {
	name    string
	mu      sync.Mutex
	entries map[string]entry
}

func openJournal(name string) (*journal, error) {
	j := &journal{name: name, entries: map[string]entry{}}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return j, nil
	}
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		j.entries[e.Key] = e
	}
	return j, err
}

func (j *journal) get(key string) (entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.entries[key]
	return e, ok
}

func (j *journal) add(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries[e.Key] = e
	line, err := json.Marshal(e)
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

// licenses are told by words of their texts.
var licenses = []struct{ name, words string }{
	{"Apache-2.0", "Apache License"}, {"MPL-2.0", "Mozilla Public License"}, {"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and"}, {"BSD-3-Clause", "Neither the name"}, {"BSD-2-Clause", "Redistributions in binary form"},
	{"LGPL-3.0", "GNU LESSER GENERAL PUBLIC LICENSE"}, {"GPL-3.0", "GNU GENERAL PUBLIC LICENSE"}, {"Unlicense", "released into the public domain"},
}

func license(dir string) string {
	files, _ := filepath.Glob(path.Join(dir, "*[Ll][Ii][Cc][Ee][Nn][Ss]*")) // the pattern is right
	more, _ := filepath.Glob(path.Join(dir, "COPYING*"))
	for _, f := range append(files, more...) {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for _, l := range licenses {
			if strings.Contains(strings.Join(strings.Fields(string(text)), " "), l.words) {
				return l.name
			}
		}
	}
	return ""
}
