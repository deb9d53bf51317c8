// Command cures holds what heaptrim check says of historic fixes against what
// the people who made them did: is the changed line among the first findings,
// is the cure of the kind that was applied, and does the prediction reach the
// allocations that the fixed version makes?
//
//	go run ./cures -heaptrim BIN -cases FILE
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cures:", err)
		os.Exit(1)
	}
}

func run() error {
	binary := flag.String("heaptrim", "heaptrim", "the tool to judge")
	list := flag.String("cases", "", "JSON list of cases")
	only := flag.String("only", "", "comma-separated IDs; default: all")
	flag.Parse()
	cases, err := corpus.Read(*list)
	if err != nil {
		return err
	}
	var s score
	fmt.Println("| case | applied | named | site | cure | allocs/op before | predicted after | after the fix | |\n|---|---|---|--:|--:|--:|--:|--:|---|")
	for _, c := range cases {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), c.ID) {
			continue
		}
		if err := s.trial(c, *binary); err != nil {
			fmt.Printf("| %s | not run: %.120s |\n", c.ID, strings.ReplaceAll(err.Error(), "\n", " "))
			s.failed++
		}
	}
	s.print()
	return nil
}

// score counts over all cases.
type score struct{ cases, site1, site3, cure3, right, close, failed int }

func (s *score) print() {
	share := func(k, n int) string {
		return fmt.Sprintf("%d of %d (%.0f %%)", k, n, 100*float64(k)/math.Max(1, float64(n)))
	}
	fmt.Printf("\nsite@1 %s, site@3 %s, cure@3 %s, not run %d\n", share(s.site1, s.cases), share(s.site3, s.cases), share(s.cure3, s.cases), s.failed)
	fmt.Printf("prediction within 10 %% of the fix, where the cure was right: %s\n", share(s.close, s.right))
}

// document is the part of the report that is looked at.
type document struct {
	Findings []finding `json:"findings"`
}

type finding struct {
	Code       string       `json:"code"`
	Site       corpus.Named `json:"site"`
	Prediction struct {
		Objects float64 `json:"objects_per_op"`
	} `json:"prediction"`
}

// trial runs one case and prints its row.
func (s *score) trial(c corpus.Case, binary string) error {
	dir, err := os.MkdirTemp("", "cures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, after, err := c.LayOut(dir)
	if err != nil {
		return err
	}
	doc, err := check(c, binary, before)
	if err != nil {
		return err
	}
	was, err := allocs(c, before)
	if err != nil {
		return err
	}
	is, err := allocs(c, after)
	if err != nil {
		return err
	}
	s.row(c, doc, was, is)
	return nil
}

func (s *score) row(c corpus.Case, doc document, was, is float64) {
	site, cure, removed := 0, 0, 0.0
	var named []string
	for i, f := range doc.Findings {
		if !c.Hit(f.Site) {
			continue
		}
		removed += f.Prediction.Objects
		if len(named) < 3 {
			named = append(named, f.Code)
		}
		if site == 0 {
			site = i + 1
		}
		if cure == 0 && c.Right(f.Code) {
			cure = i + 1
		}
	}
	s.cases++
	s.site1 += one(site == 1)
	s.site3 += one(site > 0 && site <= 3)
	s.cure3 += one(cure > 0 && cure <= 3)
	predicted := math.Max(0, was-removed)
	verdict := "cure not named"
	if cure > 0 {
		s.right++
		verdict = "missed"
		// allocs/op is a whole number: half of one is no difference.
		if math.Abs(predicted-is) <= math.Max(0.1*is, 0.5) {
			s.close++
			verdict = "within 10 %"
		}
	}
	fmt.Printf("| %s | %s | %s | %d | %d | %.0f | %.1f | %.0f | %s |\n", c.ID, c.Cure, strings.Join(named, ", "), site, cure, was, predicted, is, verdict)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// check asks heaptrim. Exit status 3 says that there are findings.
func check(c corpus.Case, binary, dir string) (document, error) {
	report := filepath.Join(dir, "..", "report.json")
	cmd := exec.Command(binary, "check", "-json", report, "-threshold", "0", "-bench", c.Bench, c.Pattern())
	cmd.Dir, cmd.Env = dir, corpus.Environ()
	var doc document
	if out, err := cmd.CombinedOutput(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 {
			return doc, fmt.Errorf("heaptrim check: %w: %s", err, out)
		}
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return doc, err
	}
	return doc, json.Unmarshal(data, &doc)
}

var allocsPerOp = regexp.MustCompile(`(\d+) allocs/op`)

// allocs measures the benchmark's allocations by package testing's own count.
func allocs(c corpus.Case, dir string) (float64, error) {
	length := c.Benchtime
	if length == "" {
		length = "200ms"
	}
	cmd := exec.Command("go", "test", "-vet=off", "-run=^$", "-bench="+c.Bench, "-benchmem", "-benchtime="+length, c.Pattern())
	cmd.Dir, cmd.Env = dir, corpus.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("go test: %w: %s", err, out)
	}
	m := allocsPerOp.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("go test printed no allocations: %s", out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
