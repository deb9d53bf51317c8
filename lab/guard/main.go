// Command guard judges heaptrim guard on public modules: whether it finds planted regressions and
// names their lines, and whether it is silent while nothing changes.
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
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var l lab
	cases := flag.String("cases", "truth/planted.json", "`file` with planted cases")
	flag.StringVar(&l.heaptrim, "heaptrim", "", "the `command` that is judged")
	flag.StringVar(&l.dir, "dir", "", "`folder` for the modules")
	flag.StringVar(&l.list, "list", "guard/cases.txt", "`file` with the names of the cases, in order")
	flag.StringVar(&l.seed, "seed", "", "`text` that draws the other benchmarks of a package, and with -draw the cases")
	draw := flag.Int("draw", 0, "print the names of `number` cases of as many modules by lot, and end")
	flag.IntVar(&l.modules, "modules", 20, "`number` of modules")
	flag.IntVar(&l.runs, "runs", 7, "`number` of runs of each module without a change, the last one in a clone")
	flag.IntVar(&l.busy, "busy", 4, "`number` of further runs of each, at the end, beside two busy loops")
	flag.IntVar(&l.rounds, "cost", 0, "measure the cost instead, on modules that were judged, in `number` of rounds")
	flag.StringVar(&l.only, "only", "", "`part` of the modules' names")
	flag.Parse()
	if err := l.run(ctx, *cases, *draw); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

// lab is one round of the experiment.
type lab struct {
	heaptrim, dir, seed, only, list string
	modules, runs, busy, rounds     int
}

// outcome is what was seen of one module. It is kept, and not tried again.
type outcome struct {
	Case    string   `json:"case"`
	Module  string   `json:"module"`
	Skipped string   `json:"skipped,omitempty"` // why the module could not be judged
	Lines   int      `json:"lines"`             // of the budget file
	Varying int      `json:"varying"`
	Found   bool     `json:"found"`
	First   string   `json:"first"` // the line that is named first
	Want    []string `json:"want"`
	Edited  []string `json:"edited"` // lines of the edit, Want among them
	Runs    int      `json:"runs"`   // without a change
	Clones  int      `json:"clones"` // of them, in a clone
	Busy    int      `json:"busy"`   // of them, beside busy loops
	Alarms  []string `json:"alarms"` // output of those that failed
	Init    float64  `json:"init_s"`
	Within  float64  `json:"within_s"` // guard, when nothing grew
	Grown   float64  `json:"grown_s"`  // guard, with the regression
}

// named reports whether the planted line is named first.
func (o outcome) named() bool { return slices.Contains(o.Want, o.First) }

func (l *lab) run(ctx context.Context, list string, draw int) error {
	cases, err := corpus.Read(list)
	if err != nil {
		return err
	}
	if draw > 0 {
		for _, c := range l.draw(cases)[:draw] {
			fmt.Println(c.ID)
		}
		return nil
	}
	if cases, err = l.listed(cases); err != nil {
		return err
	}
	if l.heaptrim, err = filepath.Abs(l.heaptrim); err != nil {
		return err
	}
	if l.rounds > 0 {
		return l.costs(ctx, cases[:min(l.modules, len(cases))], l.rounds)
	}
	var all []outcome
	judged := map[string]corpus.Case{}
	for _, c := range cases {
		if len(all) == l.modules || ctx.Err() != nil {
			break
		}
		o, err := l.outcome(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		fmt.Printf("%-55s %s\n", c.ID, o.line())
		if o.Skipped == "" {
			all = append(all, o)
			judged[c.ID] = c
		}
	}
	stop := load()
	defer stop()
	for i := range all {
		if err := l.besides(ctx, judged[all[i].Case], &all[i]); err != nil {
			return fmt.Errorf("%s: %w", all[i].Case, err)
		}
	}
	summary(all)
	return ctx.Err()
}

// listed are the cases that the list names.
func (l *lab) listed(cases []corpus.Case) ([]corpus.Case, error) {
	text, err := os.ReadFile(l.list)
	if err != nil {
		return nil, err
	}
	var out []corpus.Case
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(line, "#")
		if id = strings.TrimSpace(id); id == "" {
			continue
		}
		i := slices.IndexFunc(cases, func(c corpus.Case) bool { return c.ID == id })
		if i < 0 || cases[i].Planted == nil {
			return nil, fmt.Errorf("%s: no planted case %s", l.list, id)
		}
		if strings.Contains(cases[i].Module, l.only) {
			out = append(out, cases[i])
		}
	}
	return out, nil
}

// draw puts the cases into an order by lot, one of each module.
func (l *lab) draw(cases []corpus.Case) []corpus.Case {
	key := func(c corpus.Case) string {
		sum := sha256.Sum256([]byte(l.seed + " " + c.ID))
		return string(sum[:])
	}
	slices.SortFunc(cases, func(a, b corpus.Case) int { return cmp.Compare(key(a), key(b)) })
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c corpus.Case) bool {
		twice := seen[c.Module]
		seen[c.Module] = true
		return twice || c.Planted == nil || !strings.Contains(c.Module, l.only)
	})
}

// outcome judges a module, or reads what was seen of it.
func (l *lab) outcome(ctx context.Context, c corpus.Case) (outcome, error) {
	name := filepath.Join(l.dir, c.ID+".json")
	var o outcome
	if data, err := os.ReadFile(name); err == nil {
		err := json.Unmarshal(data, &o)
		return o, err
	}
	o, err := l.judge(ctx, c)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		o.Skipped = err.Error()
	}
	return o, l.keep(o)
}

func (l *lab) keep(o outcome) error {
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, o.Case+".json"), data, 0o644)
}

// judge makes the budgets of a module, plants the regression, takes it back, and looks often.
func (l *lab) judge(ctx context.Context, c corpus.Case) (outcome, error) {
	o := outcome{Case: c.ID, Module: c.Module}
	for _, s := range c.Sites {
		o.Want = append(o.Want, fmt.Sprintf("%s:%d", s.File, s.Line))
	}
	dir := filepath.Join(l.dir, c.ID, "module")
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		return o, err
	}
	if err := c.Place(dir, c.Version); err != nil {
		return o, err
	}
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "init", "-cpu", "1,2", "-bench", l.benches(c, dir), c.Pattern())
	if err != nil {
		return o, fmt.Errorf("guard init: %w: %s", err, said)
	}
	o.Init = took.Seconds()
	text, err := os.ReadFile(filepath.Join(dir, "heaptrim.budget"))
	if err != nil {
		return o, err
	}
	o.Lines, o.Varying = strings.Count(string(text), " N="), strings.Count(string(text), "±")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=lab", "-c", "user.email=lab@localhost", "commit", "-qm", "release"}} {
		if _, said, err := l.command(ctx, dir, "git", args...); err != nil {
			return o, fmt.Errorf("git %s: %w: %s", args[0], err, said)
		}
	}
	if err := l.planted(ctx, c, dir, &o); err != nil {
		return o, err
	}
	if _, said, err := l.command(ctx, dir, "git", "checkout", "-q", "."); err != nil {
		return o, fmt.Errorf("git checkout: %w: %s", err, said)
	}
	return o, l.unchanged(ctx, c, dir, &o)
}

var function = regexp.MustCompile(`(?m)^func (Benchmark\w*)\(`)

// benches is the pattern of the benchmarks that are looked at: the case's, and others of its
// package by lot.
func (l *lab) benches(c corpus.Case, dir string) string {
	const most = 4
	files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(c.Pattern()), "*_test.go")) // the pattern is well-formed
	first, _, _ := strings.Cut(strings.Trim(c.Bench, "^$"), "/")
	first = strings.TrimSuffix(first, "$")
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if m[1] != first {
				names = append(names, m[1])
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := sha256.Sum256([]byte(l.seed+a)), sha256.Sum256([]byte(l.seed+b))
		return bytes.Compare(x[:], y[:])
	})
	names = append([]string{first}, names[:min(most-1, len(names))]...)
	return "^(" + strings.Join(names, "|") + ")$"
}

var place = regexp.MustCompile(`(?m)^  (\S+\.go:\d+) `)

// planted runs guard on the module with the regression.
func (l *lab) planted(ctx context.Context, c corpus.Case, dir string, o *outcome) error {
	var err error
	if o.Edited, err = edited(dir, c.Planted.Edits); err != nil {
		return err
	}
	if err := c.Planted.Plant(dir); err != nil {
		return err
	}
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "-bench", l.benches(c, dir), c.Pattern())
	o.Grown = took.Seconds()
	switch code(err) {
	case 0:
		return nil
	case 3:
		o.Found = true
	default:
		return fmt.Errorf("guard: %w: %s", err, said)
	}
	if m := place.FindStringSubmatch(said); m != nil {
		o.First = m[1]
	}
	return os.WriteFile(filepath.Join(l.dir, c.ID+".txt"), []byte(said), 0o644)
}

// edited lists the lines that edits have, once they are made.
func edited(dir string, edits []corpus.Edit) ([]string, error) {
	var out []string
	for _, e := range edits {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.File)))
		if err != nil {
			return nil, err
		}
		before := slices.DeleteFunc(slices.Clone(edits), func(o corpus.Edit) bool { return o.File != e.File || o.Start >= e.Start })
		head, err := corpus.Apply(text[:e.Start], before)
		if err != nil {
			return nil, err
		}
		first := bytes.Count(head, []byte("\n")) + 1
		for n := first; n <= first+strings.Count(e.Text, "\n"); n++ {
			out = append(out, fmt.Sprintf("%s:%d", e.File, n))
		}
	}
	return out, nil
}

// unchanged runs guard again and again on the module as it was, the last time in a clone elsewhere.
func (l *lab) unchanged(ctx context.Context, c corpus.Case, dir string, o *outcome) error {
	for i := range l.runs {
		at := dir
		if i == l.runs-1 {
			at = filepath.Join(filepath.Dir(dir), "a clone", "in another folder")
			if _, said, err := l.command(ctx, l.dir, "git", "clone", "-q", dir, at); err != nil {
				return fmt.Errorf("git clone: %w: %s", err, said)
			}
			o.Clones++
		}
		took, err := l.quiet(ctx, c, at, o)
		if err != nil {
			return err
		}
		if i == 0 {
			o.Within = took.Seconds()
		}
	}
	return nil
}

// besides runs guard on the unchanged module beside other work, and keeps what was seen each time.
func (l *lab) besides(ctx context.Context, c corpus.Case, o *outcome) error {
	for o.Busy < l.busy {
		if _, err := l.quiet(ctx, c, filepath.Join(l.dir, c.ID, "module"), o); err != nil {
			return err
		}
		o.Busy++
		if err := l.keep(*o); err != nil {
			return err
		}
	}
	return nil
}

// quiet runs guard where it has to be silent.
func (l *lab) quiet(ctx context.Context, c corpus.Case, dir string, o *outcome) (time.Duration, error) {
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "-all", "-bench", l.benches(c, dir), c.Pattern())
	switch code(err) {
	case 0:
	case 3:
		o.Alarms = append(o.Alarms, said)
	default:
		return took, fmt.Errorf("guard: %w: %s", err, said)
	}
	o.Runs++
	return took, nil
}

func code(err error) int {
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// command runs a command for at most ten minutes.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) (time.Duration, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, corpus.Environ()
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	u, err := process.Run(cmd)
	return u.Wall, out.String(), err
}

// load keeps two processors busy with programs of their own until the function that it returns.
func load() func() {
	var all []*exec.Cmd
	for range min(2, runtime.NumCPU()) {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		cmd.Stdout = io.Discard
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill() // it has nothing to clean up
			_ = cmd.Wait()
		}
	}
}

func (o outcome) line() string {
	if o.Skipped != "" {
		first, _, _ := strings.Cut(o.Skipped, "\n")
		return "skipped: " + first
	}
	return fmt.Sprintf("lines %3d varying %2d  found %-5v first %-5v %s  runs %2d alarms %d  init %.0fs within %.0fs grown %.0fs",
		o.Lines, o.Varying, o.Found, o.named(), o.First, o.Runs, len(o.Alarms), o.Init, o.Within, o.Grown)
}

// summary adds the modules up.
func summary(all []outcome) {
	found, named, other, runs, clones, busy, alarms := 0, 0, 0, 0, 0, 0, 0
	for _, o := range all {
		if o.Found {
			found++
		}
		switch {
		case o.named():
			named++
		case slices.Contains(o.Edited, o.First):
			other++
		}
		runs, clones, busy, alarms = runs+o.Runs, clones+o.Clones, busy+o.Busy, alarms+len(o.Alarms)
	}
	fmt.Printf("\n%d modules: found %d; named first: the planted line %d, another line of the same edit %d\n", len(all), found, named, other)
	fmt.Printf("%d runs without a change, %d in a clone and %d beside busy loops: %d alarms; below %s of runs with 95 %% confidence\n",
		runs, clones, busy, alarms, upper(runs, alarms))
}

// upper is the upper bound of a share, exact (Clopper and Pearson), one-sided.
func upper(n, k int) string {
	if n == 0 || k >= n {
		return "100 %"
	}
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		p := (low + high) / 2
		if atMost(n, k, p) > 0.05 {
			low = p
		} else {
			high = p
		}
	}
	return strconv.FormatFloat(100*high, 'f', 2, 64) + " %"
}

// atMost is the chance of at most k of n at a share p.
func atMost(n, k int, p float64) float64 {
	sum, term := 0.0, 1.0
	for range n {
		term *= 1 - p
	}
	for i := 0; i <= k; i++ {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}
