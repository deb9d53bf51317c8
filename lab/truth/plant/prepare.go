package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// prepared is what is known of a package before anything is planted in it.
type prepared struct {
	Why     string             `json:",omitempty"` // nothing can be planted in it
	Folder  string             // of the package
	Covers  map[string]covered // by benchmark
	Base    [2]amounts         // two runs of the release
	Profile lines              // what the release allocates
}

// Of one package: benchmarks that are looked at, and the time for one and for its tests.
const (
	mostBenches = 10
	coverLimit  = 4 * time.Second
	baseLimit   = 25 * time.Second
)

// prepare measures the release, once.
func (t *target) prepare(ctx context.Context) (*prepared, error) {
	name := filepath.Join(t.Work, "prepared"+strings.ReplaceAll(t.Pattern, "/", "_")+".json")
	p := &prepared{}
	if text, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(text, p); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else {
		if err := t.measure(ctx, p); err != nil {
			p.Why = err.Error()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.Folder = t.Folder
		text, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return nil, err
		}
	}
	t.Folder = p.Folder
	if p.Why != "" {
		return nil, errors.New(p.Why)
	}
	return p, nil
}

func (t *target) measure(ctx context.Context, p *prepared) error {
	out, err := source.Command(ctx, benchLimit, t.Dir, "go", "list", "-f", "{{.Dir}}", t.Pattern)
	if err != nil {
		return err
	}
	t.Folder = strings.TrimSpace(string(out))
	bin, err := t.Build(ctx, "base", nil)
	if err != nil {
		return err
	}
	if out, err = source.Command(ctx, benchLimit, t.Folder, bin, "-test.list=^Benchmark"); err != nil {
		return err
	}
	if !strings.HasPrefix(string(out), "Benchmark") {
		return errors.New("no benchmarks")
	}
	if _, err := source.Command(ctx, baseLimit, t.Folder, bin, "-test.short", "-test.timeout=24s"); err != nil {
		return fmt.Errorf("tests of the release: %w", err)
	}
	if err := t.covers(ctx, p, strings.Fields(string(out))); err != nil {
		return err
	}
	var names []string
	p.Base = [2]amounts{{}, {}}
	for name := range p.Covers {
		for i := range p.Base {
			got, err := t.bench(ctx, bin, "^"+name+"$")
			if err != nil || len(got) == 0 {
				delete(p.Covers, name)
				break
			}
			for name, a := range got {
				p.Base[i][name] = a
			}
		}
		if p.Covers[name] != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return errors.New("no benchmark that runs in time")
	}
	p.Profile, err = t.profile(ctx, bin, names)
	return err
}

// covers are the lines that each benchmark of the package runs.
func (t *target) covers(ctx context.Context, p *prepared, names []string) error {
	counting, err := t.Build(ctx, "cover", nil, "-cover", "-covermode=count")
	if err != nil {
		return err
	}
	var list []string
	for _, name := range names {
		if strings.HasPrefix(name, "Benchmark") {
			list = append(list, name)
		}
	}
	p.Covers = map[string]covered{}
	for i := range min(len(list), mostBenches) {
		name := list[i*len(list)/min(len(list), mostBenches)]
		if c, err := t.cover(ctx, counting, name); err == nil {
			p.Covers[name] = c
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// covered are the lines of a file that a benchmark runs, with how often.
type covered map[string]map[int]int

var coverLine = regexp.MustCompile(`^(.*):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// cover runs one benchmark and reads which lines it runs.
func (t *target) cover(ctx context.Context, bin, name string) (covered, error) {
	ctx, stop := context.WithTimeout(ctx, coverLimit)
	defer stop()
	at := filepath.Join(t.Work, "cover.out")
	if _, err := t.bench(ctx, bin, "^"+name+"$", "-test.coverprofile="+at); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	out := covered{}
	for line := range strings.Lines(string(text)) {
		m := coverLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		times, _ := strconv.Atoi(m[4])
		if times < hot {
			continue
		}
		file := strings.TrimPrefix(strings.TrimPrefix(m[1], t.Module), "/")
		if out[file] == nil {
			out[file] = map[int]int{}
		}
		for i := first; i <= last; i++ {
			out[file][i] = max(out[file][i], times)
		}
	}
	return out, nil
}
