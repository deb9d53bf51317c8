package main

import (
	"context"
	"errors"
	"log"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// picked measures commits that a reader picked: repository, hash and, if it is known which ones show it,
// benchmarks by commas, by tabs, a line each.
func (m *miner) picked(ctx context.Context, list string) error {
	var lines [][]string
	if err := eachLine(list, func(line string) {
		if words := strings.Split(line, "\t"); len(words) > 1 {
			lines = append(lines, words)
		}
	}); err != nil {
		return err
	}
	for _, words := range lines {
		if ctx.Err() != nil {
			return nil
		}
		h := m.history(words[0])
		p, err := h.around(ctx, words[1])
		if err != nil {
			log.Printf("%s %.9s: %v", words[0], words[1], err)
			continue
		}
		if len(words) > 2 && words[2] != "" {
			p.Only = strings.Split(words[2], ",")
		}
		if e, ok := m.journal.get(p.key()); ok {
			log.Printf("%s %.9s: is there, %d rows", p.key(), words[1], len(e.Rows))
			continue
		}
		e := m.measure(ctx, h, p)
		if ctx.Err() != nil {
			return nil
		}
		if err := m.journal.add(e); err != nil {
			return err
		}
		log.Printf("%s %.9s: %d rows of %v %.200s", p.key(), words[1], len(e.Rows), e.Packages, e.Why)
	}
	return nil
}

// around is the pair of releases that has a commit, the closest ones that the module proxy serves.
func (h *history) around(ctx context.Context, hash string) (pair, error) {
	p := pair{History: h.name, Root: h.root(ctx)}
	subject, err := h.ask(ctx, "show", "-s", "--format=%s", hash)
	if err != nil {
		return p, err
	}
	p.Folder = h.folderOf(ctx, hash)
	prefix := ""
	if p.Folder != "." {
		prefix = p.Folder + "/"
	}
	p.Module = h.moduleAt(ctx, hash, prefix)
	c := commit{Hash: hash, Subject: strings.Join(subject, " "), Score: 3}
	if c.Folders, err = h.changed(ctx, hash, p.Folder); err != nil {
		return p, err
	}
	p.Commits = []commit{c}
	return p, h.releasesAround(ctx, hash, prefix, &p)
}

// folderOf is where the module stands whose code a commit changes most.
func (h *history) folderOf(ctx context.Context, hash string) string {
	modules := []string{"."}
	files, _ := h.ask(ctx, "ls-tree", "-r", "--name-only", hash) // none: the root
	for _, f := range files {
		if path.Base(f) == "go.mod" {
			modules = append(modules, path.Dir(f))
		}
	}
	changed, _ := h.ask(ctx, "show", "--format=", "--name-only", hash)
	count := map[string]int{}
	best := "."
	for _, f := range changed {
		if path.Ext(f) == ".go" && !strings.HasSuffix(f, "_test.go") {
			of := nearest(modules, path.Dir(f))
			if count[of]++; count[of] > count[best] {
				best = of
			}
		}
	}
	return best
}

// moduleAt is the path of the module in a folder at a commit.
func (h *history) moduleAt(ctx context.Context, hash, prefix string) string {
	text, err := h.ask(ctx, "show", hash+":"+prefix+"go.mod")
	if err != nil {
		return h.root(ctx)
	}
	return modfile.ModulePath([]byte(strings.Join(text, "\n")))
}

// mostTried is how many releases are asked for, one after the other.
const mostTried = 14

// firstServed is the first of some releases that can be had. The lists of module proxies lack many that they serve.
func firstServed(ctx context.Context, all []release) (release, bool) {
	for _, r := range all[:min(len(all), mostTried)] {
		if _, err := bench.Command(ctx, gitLimit, os.TempDir(), "go", "mod", "download", r.module+"@"+r.version); err == nil {
			return r, true
		}
	}
	return release{}, false
}

// releasesAround enters the last release before a commit and the first one that has it.
func (h *history) releasesAround(ctx context.Context, hash, prefix string, p *pair) error {
	after, err := h.ask(ctx, "tag", "-l", prefix+"v*", "--contains", hash)
	if err != nil {
		return err
	}
	before, err := h.ask(ctx, "tag", "-l", prefix+"v*", "--no-contains", hash)
	if err != nil {
		return err
	}
	all := func(tags []string) (out []release) {
		for _, tag := range tags {
			version := strings.TrimPrefix(tag, prefix)
			if semver.Canonical(version) != version {
				continue
			}
			if _, major, _ := module.SplitPathVersion(p.Module); module.CheckPathMajor(version, major) != nil {
				version += "+incompatible"
			}
			out = append(out, release{tag, p.Module, version})
		}
		slices.SortFunc(out, func(a, b release) int { return semver.Compare(a.version, b.version) })
		return out
	}
	old, new := all(before), all(after)
	a, ok := firstServed(ctx, new)
	if !ok {
		return errors.New("no release has it")
	}
	// Releases of older branches may come later, and lack it.
	old = slices.DeleteFunc(old, func(r release) bool { return semver.Compare(r.version, a.version) >= 0 })
	slices.Reverse(old)
	b, ok := firstServed(ctx, old)
	if !ok {
		return errors.New("no release before it")
	}
	p.Before, p.After, p.Tags = b.version, a.version, []string{b.tag, a.tag}
	return nil
}
