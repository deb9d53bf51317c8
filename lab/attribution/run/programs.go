package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// class says how long the objects of a program's site live.
type class string

const (
	short    class = "short"    // dead before the next collection
	retained class = "retained" // live for many collections
)

// program is one ground-truth program.
type program struct {
	Name  string `json:"name"` // its directory below attribution/progs
	Kind  string `json:"kind"`
	Class class  `json:"class"`
	Live  string `json:"live"` // live heap, roughly
}

// programs lists every program; a test compares it with the directory.
var programs = [...]program{
	{"rules", "parser: nodes of a syntax tree", short, "4 MiB minimum"},
	{"report", "string building: joined rows", short, "20 MiB"},
	{"accesslog", "conversion of bytes to string", short, "4 MiB minimum"},
	{"logger", "struct boxed for a logger", short, "4 MiB minimum"},
	{"orders", "JSON service: body buffer", short, "15 MiB"},
	{"events", "closures of a scheduler", short, "20 MiB"},
	{"search", "scatter and gather on goroutines", short, "25 MiB"},
	{"filter", "large buffer per tile", short, "4 MiB minimum"},
	{"groupby", "values of a map", short, "90 MiB"},
	{"scores", "vectors of numbers", short, "40 MiB"},
	{"ledger", "list of a line's fields", short, "25 MiB"},
	{"routes", "frontier of a graph search", short, "15 MiB"},
	{"merge", "page of merged entries", short, "30 MiB"},
	{"geo", "corners of clipped outlines", short, "8 MiB"},
	{"lexer", "list of a line's tokens", short, "4 MiB minimum"},
	{"joins", "key of a look-up, joined", short, "45 MiB"},
	{"spectra", "spectrum of a clip", short, "12 MiB"},
	{"errors", "error value of a fault", short, "25 MiB"},
	{"feed", "list of a page of posts", short, "60 MiB"},
	{"wire", "nodes of a decoded message", short, "4 MiB"},
	{"cache", "pointerful records in a cache", retained, "150 MiB"},
	{"docstore", "kept text without pointers", retained, "120 MiB"},
}

// choose returns the named programs, all for no names.
func choose(names string) ([]program, error) {
	var chosen []program
	for _, name := range splitNames(names) {
		n := len(chosen)
		for _, p := range programs {
			if p.Name == name {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("no program %q", name)
		}
	}
	if len(chosen) == 0 {
		return programs[:], nil
	}
	return chosen, nil
}

// Site is the marked line of a program.
type Site struct {
	File string `json:"file"` // relative to the lab's directory
	Line int    `json:"line"`
}

func (p program) dir() string { return "attribution/progs/" + p.Name }

// findSite returns the one line of a program that ends in the comment "site".
func findSite(p program) (Site, error) {
	file := filepath.ToSlash(filepath.Join(p.dir(), p.Name+".go"))
	f, err := os.Open(file)
	if err != nil {
		return Site{}, err
	}
	defer f.Close()
	site := Site{File: file}
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		if !strings.HasSuffix(sc.Text(), "// site") {
			continue
		}
		if site.Line != 0 {
			return Site{}, fmt.Errorf("%s:%d: second marked site", file, line)
		}
		site.Line = line
	}
	if err := sc.Err(); err != nil {
		return Site{}, fmt.Errorf("read %s: %w", file, err)
	}
	if site.Line == 0 {
		return Site{}, fmt.Errorf("%s: no line ends in // site", file)
	}
	return site, nil
}
