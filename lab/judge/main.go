// Command judge asks the judge of heaptrim about edits whose verdict is known: wrong ones, which
// compile and pass the tests of their package, and right ones, which must not be rejected.
//
//	go run ./judge -dir DIR -cases truth/wrong.json [-only ID,ID] [-split train] [-sample N -seed TEXT] [-rows FILE]
//	go run ./judge -dir DIR -cases truth/planted.train.json -right -sample N -seed TEXT
//
// What was judged is kept in -dir, by the edit and the judge's own code, and not judged again.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/trial"
	"github.com/heaptrim/heaptrim/lab/corpus"
)

// row is the verdict on one edit.
type row struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"` // of mistake; empty for a right edit
	Mutator  string  `json:"mutator"`
	Fault    string  `json:"fault"` // empty if the edit was accepted
	Why      string  `json:"why"`
	Passed   int     `json:"tests_passed"`
	Calls    int     `json:"calls"`
	Watched  int     `json:"calls_of_tests"`
	Reached  int     `json:"blocks_reached"`
	Blocks   int     `json:"blocks"`
	Left     string  `json:"left,omitempty"`
	Seconds  float64 `json:"seconds"`
	NotAsked string  `json:"error,omitempty"`
}

func main() {
	log.SetFlags(log.Ltime)
	dir := flag.String("dir", "", "`folder` for copies of modules and verdicts, kept from run to run")
	list := flag.String("cases", "truth/wrong.json", "JSON `file` of edits")
	only := flag.String("only", "", "`IDs`, by commas; default: all")
	split := flag.String("split", "", "train or validation; default: both")
	most := flag.Int("sample", 0, "how `many` edits to judge, by lot; 0 for all")
	seed := flag.String("seed", "", "`text` that the lot is drawn by, such as a commit")
	rows := flag.String("rows", "", "write the verdicts to `file`")
	calls := flag.Bool("calls", false, "compare calls only: the tests are known to pass")
	drop := flag.String("drop", "", "`file` of the IDs of edits that change nothing a caller can see; they are counted apart")
	again := flag.Bool("again", false, "judge again what was judged")
	right := flag.Bool("right", false, "judge the release as an edit of the planted state, in place of the edit")
	flag.Parse()
	if *dir == "" {
		log.Fatal("-dir is needed")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cases, err := corpus.Read(*list)
	if err != nil {
		log.Fatal(err)
	}
	at, err := filepath.Abs(*dir)
	if err != nil {
		log.Fatal(err)
	}
	for name, value := range map[string]string{"GOFLAGS": "-mod=mod -buildvcs=false", "GOWORK": "off"} {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	if *most > 0 {
		slices.SortFunc(cases, func(a, b corpus.Case) int { return strings.Compare(a.Lot(*seed), b.Lot(*seed)) })
		cases = cases[:min(*most, len(cases))]
	}
	// One judge asks all edits of a module.
	slices.SortStableFunc(cases, func(a, b corpus.Case) int { return strings.Compare(a.Module, b.Module) })
	dropped := ""
	if *drop != "" {
		text, err := os.ReadFile(*drop)
		if err != nil {
			log.Fatal(err)
		}
		dropped = string(text)
	}
	b := bench{dir: at, again: *again, calls: *calls, right: *right}
	defer b.close()
	var out []row
	for _, c := range cases {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), c.ID) || *split != "" && c.Validation() != (*split == "validation") {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		r := b.judge(ctx, c)
		if slices.Contains(strings.Fields(dropped), c.ID) {
			r.Kind = ""
		}
		fmt.Fprintf(os.Stderr, "%s\t%s\t%s\t%s\t%.150q\n", r.ID, r.Mutator, r.Fault, r.NotAsked, r.Why)
		out = append(out, r)
	}
	table(os.Stdout, out)
	if *rows != "" {
		text, err := json.MarshalIndent(out, "", " ")
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(*rows, append(text, '\n'), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// bench is where edits are judged: one judge for a module at a time.
type bench struct {
	dir, module string
	again       bool
	calls       bool
	right       bool
	j           *trial.Judge
}

func (b *bench) close() {
	if b.j != nil {
		if err := b.j.Close(); err != nil {
			log.Print(err)
		}
	}
}

func (b *bench) judge(ctx context.Context, c corpus.Case) row {
	r := row{ID: c.ID, Kind: c.Wrong}
	if c.Planted != nil {
		r.Mutator = c.Planted.Mutator
	}
	kept := filepath.Join(b.dir, c.ID+".verdict.json")
	if text, err := os.ReadFile(kept); err == nil && !b.again && json.Unmarshal(text, &r) == nil {
		return r
	}
	start := time.Now()
	if err := b.ask(ctx, c, &r); err != nil {
		r.NotAsked = fmt.Sprintf("%.300s", err)
	}
	r.Seconds = time.Since(start).Seconds()
	if ctx.Err() == nil {
		if text, err := json.Marshal(r); err == nil {
			if err := os.WriteFile(kept, text, 0o644); err != nil {
				log.Print(err)
			}
		}
	}
	return r
}

func (b *bench) ask(ctx context.Context, c corpus.Case, r *row) error {
	module := filepath.Join(b.dir, strings.ReplaceAll(c.Module, "/", "_"))
	if _, err := os.Stat(module); errors.Is(err, fs.ErrNotExist) {
		if err := c.Place(module, c.Version); err != nil {
			return errors.Join(err, os.RemoveAll(module))
		}
	}
	files, err := c.Planted.Changed(module)
	if b.right {
		module, files, err = b.plant(c, module)
	}
	if err != nil {
		return err
	}
	if module != b.module {
		b.close()
		j, err := trial.New(trial.Options{Dir: module, Memory: filepath.Join(b.dir, "trials"), Progress: log.Printf})
		if err != nil {
			return err
		}
		b.j, b.module = j, module
	}
	path := c.Module + strings.TrimPrefix(c.Pattern(), ".")
	path = strings.TrimSuffix(path, "/")
	const testsFor = time.Minute
	b.j.More(testsFor)
	q := trial.Question{Files: files, Changed: []string{path}, Tests: []string{path}, Race: true}
	if b.calls {
		q.Tests = nil
	}
	v, err := b.j.Holds(ctx, q)
	if err != nil {
		return err
	}
	r.Fault, r.Why, r.Passed = string(v.Fault), v.Why, v.Passed
	r.Calls, r.Watched, r.Reached, r.Blocks = v.Compare.Calls, v.Compare.TestCalls, v.Compare.Reached, v.Compare.Blocks
	for name, why := range v.Compare.Left {
		r.Left += name + ": " + why + "; "
	}
	r.Left += strings.Join(v.Refused, "; ")
	return nil
}

// plant makes a copy of the module with the edit in it, and returns it with the texts of the release, which
// take the edit back.
func (b *bench) plant(c corpus.Case, release string) (dir string, files map[string][]byte, err error) {
	dir = filepath.Join(b.dir, c.ID)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.CopyFS(dir, os.DirFS(release)); err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		if err := c.Planted.Plant(dir); err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	files = map[string][]byte{}
	for _, e := range c.Planted.Edits {
		name := filepath.FromSlash(e.File)
		if files[filepath.Join(dir, name)], err = os.ReadFile(filepath.Join(release, name)); err != nil {
			return "", nil, err
		}
	}
	return dir, files, nil
}
