// Command guard judges heaptrim guard on public modules: whether it finds planted regressions and
// names their lines, and whether it is silent while nothing changes.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
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
