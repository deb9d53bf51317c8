// Command truth scores advice against cases whose right answer is known: fixes that
// people made, waste that was planted, and controls, where the right answer is silence. Each case is recorded
// once and kept, so that a round takes minutes and two programs judge the same recording.
//
//	go run ./truth -dir DIR -heaptrim BIN -cases FILE[,FILE] [-only ID,ID] [-split train] [-part scored] [-sample N -commit HASH] [-rows FILE]
//	go run ./truth … -split train -read FILE -seed WORD     rows for a reader
//	go run ./truth … -split train -rates FILE -verdicts FILE
//
// Rules are made on the cases of the split train. Those of validation are scored after a
// freeze, and not looked at: -rows leaves them out. Those of the part "read" are judged by a reader
// once, after the last freeze: -read FILE -seed WORD draws the rows.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// options are the command's flags.
type options struct {
	heaptrim, recorder string
	dir                string
	split, part        string
	only               []string
	sample             int
	commit             string
	verify             time.Duration
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	flag.StringVar(&o.heaptrim, "heaptrim", "heaptrim", "the `program` to judge")
	flag.StringVar(&o.recorder, "recorder", "", "the `program` that records; default: that of -heaptrim")
	flag.StringVar(&o.dir, "dir", "", "`directory` for modules and recordings; what is there is used again")
	flag.StringVar(&o.split, "split", "", "train or validation; default: both")
	flag.StringVar(&o.part, "part", "", "of validation: scored or read; default: both")
	lists := flag.String("cases", "", "JSON `files` of cases and controls, by commas")
	known := flag.String("known", "", "JSON `file` of cases whose modules are train, whatever their name")
	only := flag.String("only", "", "`IDs`, by commas; default: all")
	flag.IntVar(&o.sample, "sample", 100, "planted cases of -split that are judged, drawn by -commit; 0: all")
	flag.StringVar(&o.commit, "commit", "", "the `hash` of the commit that is judged")
	ratesFile := flag.String("rates", "", "write how often each rule was right on train to `file`, as Go source")
	flag.DurationVar(&o.verify, "verify", 20*time.Second, "time for trying the first cures of a case")
	verdicts := flag.String("verdicts", "", "with -rates: a `file` of -read with the verdicts of a reader on rows of train")
	rowsFile := flag.String("rows", "", "write what was said of train cases to `file`")
	var d draw
	flag.StringVar(&d.file, "read", "", "write rows to `file`, to be judged by hand: drawn from the read part of validation, or from train beside the places that were changed")
	flag.StringVar(&d.seed, "seed", "", "`word` that draws the rows to read")
	flag.IntVar(&d.most, "most", 60, "rows to read")
	flag.Parse()
	if o.recorder == "" {
		o.recorder = o.heaptrim
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	var err error
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	var cases []corpus.Case
	for name := range strings.SplitSeq(*lists, ",") {
		some, err := corpus.Read(name)
		if err != nil {
			return err
		}
		cases = append(cases, some...)
	}
	train, err := modulesOf(*known)
	if err != nil {
		return err
	}
	splitOf := func(c corpus.Case) string {
		if c.Validation() && !train[c.Repository()] {
			return "validation"
		}
		return "train"
	}
	cases = slices.DeleteFunc(cases, func(c corpus.Case) bool { return !o.wants(c, splitOf(c)) })
	cases = sample(cases, o.sample, o.commit)
	scores := map[string]*score{"train": {}, "validation": {}}
	var rows []row
	for _, c := range cases {
		split := splitOf(c)
		r := o.judge(c)
		if split == "train" || partOf(c) == "read" {
			d.add(c, r, split == "train")
		}
		column := split
		if c.Planted != nil && c.Planted.Apart {
			column += apart
		}
		if scores[column] == nil {
			scores[column] = &score{}
		}
		scores[column].add(c, r)
		if split == "train" {
			rows = append(rows, r)
			fmt.Fprintln(os.Stderr, r)
		}
	}
	table(os.Stdout, scores)
	read, err := readVerdicts(*verdicts)
	return errors.Join(err, writeJSON(*rowsFile, rows), writeRates(*ratesFile, o.commit, tallies(rows, read)), d.write())
}

// wants reports whether a case of a split is to be judged.
func (o *options) wants(c corpus.Case, split string) bool {
	return (len(o.only) == 0 || slices.Contains(o.only, c.ID)) && (o.split == "" || o.split == split) &&
		(o.part == "" || split == "validation" && o.part == partOf(c))
}

// partOf is the part of validation that a case is of.
func partOf(c corpus.Case) string { return cmp.Or(c.Part, c.HashedPart()) }

// modulesOf are the repositories of a list of cases.
func modulesOf(name string) (map[string]bool, error) {
	out := map[string]bool{}
	if name == "" {
		return out, nil
	}
	cases, err := corpus.Read(name)
	for _, c := range cases {
		out[c.Repository()] = true
	}
	return out, err
}

// writeJSON writes a list, unless the name is empty.
func writeJSON(name string, list any) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// shown is how many rows of a case are kept.
const shown = 3

// judge records a case, unless that was done, and reads what heaptrim says of it.
func (o *options) judge(c corpus.Case) row {
	r := row{ID: c.ID, Module: c.Repository(), Control: c.Control(), Cure: c.Cure}
	doc, err := o.report(c)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	for i, f := range doc.Findings {
		named := f.Code != "leave-it"
		if named {
			r.Advice++
		}
		if i < shown {
			hit := !c.Control() && c.Hit(f.Site)
			one := said{Code: f.Code, Site: f.Site, Text: f.Remedy.Text, Rule: f.Remedy.Rule, Hit: hit, Fits: hit && c.Right(f.Code)}
			if !named && len(f.Others) > 0 {
				o := f.Others[0]
				one.Unsure = &said{Code: o.Code, Site: f.Site, Text: o.Text, Rule: o.Rule, Hit: hit, Fits: hit && c.Right(o.Code)}
			}
			r.First = append(r.First, one)
		}
		if c.Control() || !c.Hit(f.Site) {
			continue
		}
		if r.Site == 0 {
			r.Site = i + 1
		}
		if r.Right == 0 && c.Right(f.Code) {
			r.Right = i + 1
		}
		if i < 3 && named {
			r.Covered = true
		}
	}
	if !c.Control() {
		r.Amounts = amountsOf(c, doc)
	}
	return r
}

// document is the part of the report that is looked at.
type document struct {
	Findings []struct {
		Code   string       `json:"code"`
		Site   corpus.Named `json:"site"`
		Remedy struct {
			Text string `json:"text"`
			Rule string `json:"rule"`
		} `json:"remedy"`
		Others []struct {
			Code string `json:"code"`
			Text string `json:"text"`
			Rule string `json:"rule"`
		} `json:"others"`
		Prediction struct {
			Intervals struct {
				Objects *interval `json:"objects_per_op"`
				Bytes   *interval `json:"bytes_per_op"`
			} `json:"intervals"`
		} `json:"prediction"`
	} `json:"findings"`
}

func (o *options) report(c corpus.Case) (document, error) {
	var doc document
	at := filepath.Join(o.dir, c.ID)
	module, bundle := filepath.Join(at, "before"), filepath.Join(at, "rec.htb")
	if _, err := os.Stat(bundle); err != nil {
		if err := o.record(c, at, bundle); err != nil {
			return doc, err
		}
	}
	cmd := exec.Command(o.heaptrim, "check", "-verify", o.verify.String(), "-html", "", "-json", "-", bundle)
	cmd.Dir, cmd.Env = module, corpus.Environ()
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) {
		return doc, fmt.Errorf("check: %w", err)
	}
	return doc, json.Unmarshal(out, &doc)
}

// record lays out the module of a case and records its benchmark.
func (o *options) record(c corpus.Case, at, bundle string) error {
	module := filepath.Join(at, "before")
	if _, err := os.Stat(module); err != nil {
		switch {
		case c.Planted != nil:
			if err = c.Place(module, c.Version); err == nil {
				err = c.Planted.Plant(module)
			}
		case c.Control():
			err = c.Place(module, c.Version)
		default:
			_, _, err = c.LayOut(at)
		}
		if err != nil {
			os.RemoveAll(at)
			return err
		}
	}
	cmd := exec.Command(o.recorder, "record", "-o", bundle, "-bench", c.Bench, c.Pattern())
	cmd.Dir, cmd.Env = module, corpus.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		os.RemoveAll(bundle)
		return fmt.Errorf("record: %w: %.300s", err, out)
	}
	return nil
}
