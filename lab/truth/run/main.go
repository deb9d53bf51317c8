// Command run scores what heaptrim fix reaches: it fixes a copy of the module before, runs
// the tests of the module, and measures the benchmark in the copies before, fixed and after.
//
//	go run ./truth/run -heaptrim BIN -dir DIR -cases FILE[,FILE] [-split train] [-only ID,ID] [-sample N -commit HASH] [-budget 2m] [-rows FILE]
//
// A case is a pair of releases, or a release with a planted patch. Errors and timeouts are failures. What
// was scored is kept in -dir, and not scored again. Cases whose tests fail without any edit, which fix refuses, are run again
// with -skip failing, and shown apart. Rows of validation are not printed.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// options are the command's flags.
type options struct {
	heaptrim, dir, budget string
	tests                 time.Duration
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal("run: ", err)
	}
}

func run() error {
	var o options
	flag.StringVar(&o.heaptrim, "heaptrim", "heaptrim", "the `program` to judge")
	flag.StringVar(&o.dir, "dir", "", "`folder` for copies and scores, kept from run to run")
	flag.StringVar(&o.budget, "budget", "5m", "`time` for each fix")
	flag.DurationVar(&o.tests, "tests", 5*time.Minute, "time for the tests of a module")
	lists := flag.String("cases", "", "JSON `files` of cases, by commas")
	split := flag.String("split", "", "train or validation; default: both")
	only := flag.String("only", "", "`IDs`, by commas; default: all")
	n := flag.Int("sample", 0, "cases that are scored, drawn by -commit; 0: all")
	commit := flag.String("commit", "", "the `hash` of the commit that is judged")
	rowsFile := flag.String("rows", "", "write what became of the cases of train to `file`")
	flag.Parse()
	var err error
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cases, err := read(*lists)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(c corpus.Case) bool {
		return c.Control() || c.Wrong != "" || *split != "" && c.Validation() != (*split == "validation") ||
			*only != "" && !slices.Contains(strings.Split(*only, ","), c.ID)
	})
	cases = draw(cases, *n, *commit)
	var rows, open []row
	for _, c := range cases {
		if ctx.Err() != nil {
			break
		}
		r := o.score(ctx, c)
		rows = append(rows, r)
		if !c.Validation() {
			open = append(open, r)
			log.Print(r)
		}
	}
	show(os.Stdout, rows)
	if *rowsFile == "" {
		return ctx.Err()
	}
	text, err := json.MarshalIndent(open, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(*rowsFile, text, 0o644)
}

// read reads lists of cases.
func read(names string) (out []corpus.Case, err error) {
	for name := range strings.SplitSeq(names, ",") {
		cases, err := corpus.Read(name)
		if err != nil {
			return nil, err
		}
		out = append(out, cases...)
	}
	return out, nil
}

// draw draws cases by a word; n of 0 keeps all as they are.
func draw(cases []corpus.Case, n int, word string) []corpus.Case {
	if n == 0 || n >= len(cases) {
		return cases
	}
	sum := func(c corpus.Case) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(word+" "+c.ID))) }
	slices.SortFunc(cases, func(a, b corpus.Case) int { return cmp.Compare(sum(a), sum(b)) })
	return cases[:n]
}

// score fixes a case, or reads what an earlier run found.
func (o options) score(ctx context.Context, c corpus.Case) row {
	r := row{ID: c.ID, Cure: c.Cure, Planted: c.Planted != nil}
	if r.Planted {
		r.Mutator, r.Apart = c.Planted.Mutator, c.Planted.Apart
	}
	at := filepath.Join(o.dir, c.ID)
	kept := filepath.Join(at, "score.json")
	if text, err := os.ReadFile(kept); err == nil && json.Unmarshal(text, &r) == nil {
		return r
	}
	if err := o.fix(ctx, c, at, &r); err != nil {
		r.Error = fmt.Sprintf("%.300s", err)
	}
	if text, err := json.Marshal(r); err == nil && ctx.Err() == nil {
		if err := os.WriteFile(kept, text, 0o644); err != nil {
			log.Print(err)
		}
	}
	return r
}

// lay makes the folders before, fixed and after of a case.
func lay(c corpus.Case, at string) error {
	before, after, fixed := filepath.Join(at, "before"), filepath.Join(at, "after"), filepath.Join(at, "fixed")
	if _, err := os.Stat(fixed); err == nil {
		if err := os.RemoveAll(fixed); err != nil {
			return err
		}
	} else if err := layOut(c, at, before, after); err != nil {
		return err
	}
	return os.CopyFS(fixed, os.DirFS(before))
}

func layOut(c corpus.Case, at, before, after string) error {
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	if c.Planted == nil {
		_, _, err := c.LayOut(at)
		return err
	}
	for _, dir := range []string{before, after} {
		if err := c.Place(dir, c.Version); err != nil {
			return err
		}
	}
	return c.Planted.Plant(before)
}

// fix runs heaptrim fix on a copy, its tests, and the benchmark in all three copies.
func (o options) fix(ctx context.Context, c corpus.Case, at string, r *row) error {
	if err := lay(c, at); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 30*time.Minute)
	defer stop()
	fixed := filepath.Join(at, "fixed")
	start := time.Now()
	out, err := o.command(ctx, c, at)
	if err != nil && bytes.Contains(out, []byte("tests fail without any edit")) {
		r.Failing = true
		out, err = o.command(ctx, c, at, "-skip", "failing")
	}
	r.Seconds = time.Since(start).Seconds()
	if err := os.WriteFile(filepath.Join(at, "fix.txt"), out, 0o644); err != nil {
		return err
	}
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
		return fmt.Errorf("fix: %w: %.200s", err, out)
	}
	if err := r.readFix(c, at); err != nil {
		return err
	}
	if r.Kept == 0 {
		return nil // the copy is as it was
	}
	before := filepath.Join(at, "before")
	_, was := bench.Command(ctx, o.tests, before, "go", "build", "./...") // builds the dependencies of both copies
	if _, err := bench.Command(ctx, o.tests, fixed, "go", "build", "./..."); err != nil && was == nil {
		r.Broken = []string{"build"}
		return nil
	}
	copies := bench.Copies{Before: before, After: fixed, Limit: o.tests}
	if r.Broken, r.Passed = copies.Broken(ctx, "-vet=off", "./..."); len(r.Broken) > 0 {
		return nil
	}
	return r.measure(ctx, c, at)
}

// command runs heaptrim fix on the copy that is to be fixed, and returns what it printed.
func (o options) command(ctx context.Context, c corpus.Case, at string, more ...string) ([]byte, error) {
	args := append([]string{"fix", "-safety", "review", "-bench", c.Bench, "-budget", o.budget, "-json", filepath.Join(at, "fix.json")}, more...)
	cmd := exec.CommandContext(ctx, o.heaptrim, append(args, c.Pattern())...)
	cmd.Dir, cmd.Env = filepath.Join(at, "fixed"), corpus.Environ()
	return cmd.CombinedOutput()
}

// readFix reads what the fix says that it kept.
func (r *row) readFix(c corpus.Case, at string) error {
	text, err := os.ReadFile(filepath.Join(at, "fix.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var doc struct {
		Findings int `json:"findings"`
		NoEdit   int `json:"no_edit"`
		Attempts []struct {
			Kind, Outcome, File string
			Line                int
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	r.Findings, r.NoEdit = doc.Findings, doc.NoEdit
	for _, a := range doc.Attempts {
		r.Tried = append(r.Tried, a.Kind+": "+a.Outcome)
		file, err := filepath.Rel(filepath.Join(at, "fixed"), a.File)
		if err == nil && c.Planted != nil && c.Planted.At(filepath.Join(at, "before"), file, a.Line) {
			r.AtWaste = append(r.AtWaste, a.Kind+": "+a.Outcome)
		}
		if a.Outcome == "kept" {
			r.Kept++
		}
	}
	return nil
}
