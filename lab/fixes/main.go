// Command fixes runs heaptrim fix on modules that no kind of edit was made for, and counts for each
// kind what was found, kept and dropped.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// document is what is read of heaptrim.fix/1.
type document struct {
	Findings int `json:"findings"`
	NoEdit   int `json:"no_edit"`
	Passed   int `json:"tests_passed"`
	Times    string
	Without  []struct{ Code, Kind string } `json:"without_edit"`
	Attempts []struct {
		Kind, File, Text, Outcome, Why, Question, Benchmark string

		Line          int
		Before, After struct {
			Allocs float64 `json:"allocs_per_op"`
			Bytes  float64 `json:"bytes_per_op"`
		}
	}
}

func main() {
	log.SetFlags(0)
	list := flag.String("modules", "fixes/modules.txt", "`file` with a module, a version and packages a line")
	var r run
	flag.StringVar(&r.safety, "safety", "review", "`safe` or review")
	flag.StringVar(&r.proof, "proof", "", "apply what is kept, run all tests, and compare times anew for this `time`; default: none of it")
	only := flag.String("only", "", "one `module` of the list; default: all")
	flag.StringVar(&r.tool, "heaptrim", "heaptrim", "the `binary` to judge")
	flag.StringVar(&r.dir, "dir", "", "`folder` for copies and results, kept from run to run")
	flag.StringVar(&r.budget, "budget", "75s", "`time` for each module")
	flag.Parse()
	if r.dir == "" {
		log.Fatal("-dir is needed")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	modules, err := read(*list)
	if err != nil {
		log.Fatal(err)
	}
	done, apart := map[string]document{}, map[string]fresh{}
	for _, m := range modules {
		if ctx.Err() != nil {
			break
		}
		if *only != "" && m.path != *only {
			continue
		}
		doc, err := m.fix(ctx, r)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", m.path, err)
			continue
		}
		done[m.path] = doc
		if r.proof != "" && doc.kept() > 0 {
			if apart[m.path], err = m.apart(ctx, r, doc); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", m.path, err)
			}
		}
	}
	show(done)
	if r.proof != "" {
		showFresh(apart)
	}
}

// run is how modules are fixed.
type run struct{ tool, dir, budget, safety, proof string }

// kept counts the edits that were kept.
func (d document) kept() int {
	n := 0
	for _, a := range d.Attempts {
		if a.Outcome == "kept" {
			n++
		}
	}
	return n
}

type module struct {
	path, version string
	packages      []string
}

func read(name string) ([]module, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []module
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		out = append(out, module{words[0], words[1], words[2:]})
	}
	return out, nil
}

// fix runs heaptrim fix in a copy of the module, or reads what an earlier run wrote.
func (m module) fix(ctx context.Context, r run) (doc document, err error) {
	at := m.at(r)
	result := at + ".json"
	if text, err := os.ReadFile(result); err == nil {
		return doc, json.Unmarshal(text, &doc)
	}
	if err := m.copy(ctx, at); err != nil {
		return doc, err
	}
	args := []string{"fix", "-safety", r.safety, "-budget", r.budget, "-json", result, "-record", at + ".record"}
	if r.proof == "" {
		args = append(args, "-diff")
	} else if err := m.copy(ctx, at+beforeSuffix); err != nil {
		return doc, err
	}
	out, said, err := m.run(ctx, r, args)
	if err != nil && strings.Contains(said, skipFailing) {
		out, _, err = m.run(ctx, r, append(args, strings.Fields(skipFailing)...))
	}
	if err != nil {
		return doc, err
	}
	if err := os.WriteFile(at+".txt", out, 0o644); err != nil {
		return doc, err
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return doc, err
	}
	return doc, json.Unmarshal(text, &doc)
}

// skipFailing is what the tool asks for where tests fail without any edit.
const skipFailing = "-skip failing"

// run runs the tool in the copy, and returns what it printed and what it said on standard error.
func (m module) run(ctx context.Context, r run, args []string) (out []byte, said string, err error) {
	var notes strings.Builder
	cmd := exec.CommandContext(ctx, r.tool, append(slices.Clone(args), m.packages...)...)
	cmd.Dir, cmd.Stderr, cmd.Env = m.at(r), io.MultiWriter(os.Stderr, &notes), environment()
	out, err = cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		err = nil
	}
	return out, notes.String(), err
}

// at is the folder of the copy of a module.
func (m module) at(r run) string { return filepath.Join(r.dir, strings.ReplaceAll(m.path, "/", "_")) }

// beforeSuffix is that of the folder with the module as it was.
const beforeSuffix = ".before"

// environment is that of commands in a copy: what a module's own list of modules lacks may be added.
func environment() []string {
	return append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
}

// copy makes a copy of the module that can be written to.
func (m module) copy(ctx context.Context, to string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(got.Dir)); err != nil {
		return err
	}
	if err := writable(to); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(to, "go.mod")); err != nil {
		if err := os.WriteFile(filepath.Join(to, "go.mod"), []byte("module "+m.path+"\n\ngo 1.24\n"), 0o644); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
		cmd.Dir, cmd.Env = to, environment()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod tidy: %w: %s", err, out)
		}
	}
	return nil
}

// show prints the table of kinds, and one of modules.
func show(done map[string]document) {
	outcomes := []string{"kept", "review", "no gain", "no build", "breaks", "differs", "slower", "overlaps", "no run", "not tested", "not tried", "left alone"}
	kinds := map[string]map[string]int{}
	fmt.Printf("| module | findings | tried | kept | of them safe | tests passed |\n|---|--:|--:|--:|--:|--:|\n")
	for _, path := range slices.Sorted(maps.Keys(done)) {
		doc := done[path]
		kept, safe := 0, 0
		for _, a := range doc.Attempts {
			if kinds[a.Kind] == nil {
				kinds[a.Kind] = map[string]int{}
			}
			kinds[a.Kind][a.Outcome]++
			kinds[a.Kind]["found"]++
			if a.Outcome == "kept" {
				kept++
				if a.Question == "" {
					safe++
				}
			}
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %d |\n", path, doc.Findings, len(doc.Attempts), kept, safe, doc.Passed)
	}
	fmt.Printf("\n| kind | found | %s |\n|---|%s\n", strings.Join(outcomes, " | "), strings.Repeat("--:|", len(outcomes)+1))
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("| %s | %d |", k, kinds[k]["found"])
		for _, o := range outcomes {
			fmt.Printf(" %d |", kinds[k][o])
		}
		fmt.Println()
	}
	showWithout(done)
}

// showWithout prints what has no edit: how often, and in how many modules.
func showWithout(done map[string]document) {
	type key struct{ code, kind string }
	findings, modules := map[key]int{}, map[key]int{}
	for _, doc := range done {
		seen := map[key]bool{}
		for _, w := range doc.Without {
			k := key{w.Code, w.Kind}
			if findings[k]++; !seen[k] {
				modules[k]++
			}
			seen[k] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(modules), func(a, b key) int {
		return cmp.Or(cmp.Compare(modules[b], modules[a]), cmp.Compare(findings[b], findings[a]), cmp.Compare(a.code+a.kind, b.code+b.kind))
	})
	fmt.Printf("\n| without an edit: cure | what allocates | findings | modules |\n|---|---|--:|--:|\n")
	for _, k := range order {
		fmt.Printf("| %s | %s | %d | %d |\n", k.code, k.kind, findings[k], modules[k])
	}
}
