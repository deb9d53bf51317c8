// Command wrong makes fixes that are wrong: edits of public modules that compile and pass the tests
// of their package, and that a judge of fixes has to refuse.
//
//	go run ./truth/wrong -dir DIR -modules FILES -write truth/wrong.json
//
// What was tried is kept in -dir and not tried again. Without -modules only the list is written.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// row is one wrong fix, in the format of lab/corpus, and what the calls of it need.
type row struct {
	ID        string         `json:"id"`
	Module    string         `json:"module"`
	Version   string         `json:"version"`
	Package   string         `json:"package"`
	Functions []string       `json:"functions"`
	Kind      string         `json:"wrong"`
	Why       string         `json:"why"`      // what a caller sees
	Exported  bool           `json:"exported"` // other packages may call the function
	Signature string         `json:"signature"`
	Planted   corpus.Planted `json:"planted"`
}

// Of one package: wrong fixes of a slip, and tries of one; those of kinds that are easily found
// are tried less.
const (
	mostOfSlip  = 2
	mostTries   = 5
	mostEasy    = 1
	testLimit   = 30 * time.Second
	buildFolder = "wrong"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "", "`folder` for copies of modules and what was tried, kept from run to run")
	lists := flag.String("modules", "", "`files`, by commas: a module, a version and packages a line")
	write := flag.String("write", "", "write the list to `file`")
	drop := flag.String("drop", "", "`file` of IDs that are left out, one a line")
	skip := flag.String("skip", "", "`kinds` that are not tried, by commas")
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
	if err == nil {
		err = all(ctx, at, *lists, strings.Split(*skip, ","))
	}
	if err == nil && *write != "" {
		err = publish(at, *write, *drop)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// all tries the packages of the lists.
func all(ctx context.Context, dir, lists string, skip []string) error {
	for name := range strings.SplitSeq(lists, ",") {
		if name == "" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan() && ctx.Err() == nil; {
			w := strings.Fields(s.Text())
			if len(w) < 3 || w[0] == "#" {
				continue
			}
			for _, pattern := range w[2:] {
				at := filepath.Join(dir, strings.ReplaceAll(w[0], "/", "_"))
				p := &source.Package{Module: w[0], Version: w[1], Pattern: pattern,
					Dir: filepath.Join(at, "module"), Work: filepath.Join(at, buildFolder)}
				n, err := in(ctx, p, skip)
				log.Printf("%s %s: %d %.160v", p.Module, pattern, n, err)
			}
		}
	}
	return nil
}

// tried is one wrong fix that was tried, a line of a package's journal.
type tried struct {
	Key string `json:"key"`
	Why string `json:"why,omitempty"` // it is not kept
	Row *row   `json:"row,omitempty"`
}

// in tries wrong fixes in one package.
func in(ctx context.Context, p *source.Package, skip []string) (int, error) {
	name := filepath.Join(p.Work, "tried"+strings.ReplaceAll(p.Pattern, "/", "_")+".jsonl")
	if _, err := os.Stat(name); err == nil {
		return 0, nil
	}
	if err := os.MkdirAll(p.Work, 0o755); err != nil {
		return 0, err
	}
	list, err := tryAll(ctx, p, skip)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		list = append(list, tried{Key: "package", Why: fmt.Sprintf("%.200v", err)})
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	kept := 0
	for _, t := range list {
		if err := enc.Encode(t); err != nil {
			return 0, err
		}
		if t.Row != nil {
			kept++
		}
	}
	return kept, os.WriteFile(name, text.Bytes(), 0o644)
}

func tryAll(ctx context.Context, p *source.Package, skip []string) ([]tried, error) {
	if err := p.Place(); err != nil {
		return nil, err
	}
	if err := p.Load(ctx); err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(candidates(p), func(r row) bool { return slices.Contains(skip, r.Kind) })
	if len(found) == 0 {
		return nil, nil
	}
	bin, err := p.Build(ctx, "base", nil)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := tests(ctx, p, bin, testLimit); err != nil {
		return nil, fmt.Errorf("tests of the release: %w", err)
	}
	limit := min(testLimit, 4*time.Since(start)+4*time.Second)
	var out []tried
	kept, tries := map[string]int{}, map[string]int{}
	for _, r := range found {
		if ctx.Err() != nil {
			break
		}
		if kept[r.Planted.Mutator] >= mostOfSlip || tries[r.Planted.Mutator] >= mostTries || easy(r.Kind) && tries[r.Planted.Mutator] >= mostEasy {
			continue
		}
		if err := p.CheckWith(r.Planted.Edits); err != nil {
			out = append(out, tried{Key: r.ID, Why: fmt.Sprintf("%.200v", err)})
			continue
		}
		tries[r.Planted.Mutator]++
		bin, err := p.Build(ctx, "mutant", r.Planted.Edits)
		if err == nil {
			err = tests(ctx, p, bin, limit)
		}
		if err != nil {
			out = append(out, tried{Key: r.ID, Why: fmt.Sprintf("%.200v", err)})
			continue
		}
		kept[r.Planted.Mutator]++
		out = append(out, tried{Key: r.ID, Row: &r})
	}
	return out, nil
}

func easy(kind string) bool { return kind == otherError || kind == boundary || kind == nilEmpty }

// tests runs the tests of a package.
func tests(ctx context.Context, p *source.Package, bin string, limit time.Duration) error {
	_, err := source.Command(ctx, limit, p.Folder, bin, "-test.short", "-test.failfast", "-test.timeout="+(limit-time.Second).String())
	return err
}

// candidates are the wrong fixes that the slips find in a package, in an order that a hash gives.
// Those of functions that other packages may call come first.
func candidates(p *source.Package) []row {
	var out []row
	base := p.Module[strings.LastIndex(p.Module, "/")+1:]
	for _, s := range p.Files {
		if ast.IsGenerated(s.Syntax) {
			continue
		}
		for _, d := range s.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			f := function{s, fn}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				for _, k := range slips {
					if n == nil {
						break
					}
					edits := k.find(f, n)
					if len(edits) == 0 {
						continue
					}
					edits = append(edits, s.Blank(edits)...)
					out = append(out, row{Module: p.Module, Version: p.Version, Package: p.Pattern, Kind: k.kind, Why: k.why,
						Functions: []string{s.Spell(fn)}, Exported: f.exported(), Signature: f.signature(),
						Planted: corpus.Planted{Mutator: k.name, Edits: edits},
						ID:      fmt.Sprintf("wrong-%s-%s-%s-%d", base, k.name, strings.TrimSuffix(filepath.Base(s.Name), ".go"), s.Fset.Position(n.Pos()).Line)})
				}
				return true
			})
		}
	}
	drawn := func(r row) string {
		sum := sha256.Sum256([]byte(r.ID))
		return string(sum[:])
	}
	slices.SortFunc(out, func(a, b row) int {
		if a.Exported != b.Exported {
			return map[bool]int{true: -1, false: 1}[a.Exported]
		}
		return strings.Compare(drawn(a), drawn(b))
	})
	return out
}

// publish writes the list of all journals, less those that are dropped.
func publish(dir, name, drop string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*", buildFolder, "tried*.jsonl"))
	if err != nil {
		return err
	}
	dropped := map[string]bool{}
	if drop != "" {
		text, err := os.ReadFile(drop)
		if err != nil {
			return err
		}
		for _, id := range strings.Fields(string(text)) {
			dropped[id] = true
		}
	}
	var list []row
	for _, at := range names {
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			var t tried
			if err := json.Unmarshal([]byte(line), &t); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if t.Row != nil && !dropped[t.Row.ID] {
				dropped[t.Row.ID] = true
				list = append(list, *t.Row)
			}
		}
	}
	slices.SortFunc(list, func(a, b row) int {
		return strings.Compare(a.Kind+" "+a.ID, b.Kind+" "+b.ID)
	})
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	text.WriteString("[\n")
	for i, r := range list {
		if i > 0 {
			text.Truncate(text.Len() - 1)
			text.WriteString(",\n")
		}
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	text.WriteString("]\n")
	log.Printf("%d wrong fixes", len(list))
	return os.WriteFile(name, text.Bytes(), 0o644)
}
