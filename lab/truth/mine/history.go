package main

import (
	"cmp"
	"context"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// history is a repository's git directory, which is read and not built.
type history struct {
	git     string
	name    string          // as owner/name
	commits map[string]bool // that a list names
	any     bool            // whatever commits say
}

const gitLimit = time.Minute

// ask runs git and returns its lines.
func (h *history) ask(ctx context.Context, args ...string) ([]string, error) {
	out, err := bench.Command(ctx, gitLimit, h.git, append([]string{"git"}, args...)...)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// release is a tagged version of a module.
type release struct {
	tag, module, version string
}

var elsewhere = regexp.MustCompile(`(^|/)(vendor|testdata|_?examples?|third_party|node_modules)(/|$)`)

// folders are where modules stand that have benchmarks, in the newest commit.
func (h *history) folders(ctx context.Context) ([]string, error) {
	files, err := h.ask(ctx, "ls-tree", "-r", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	modules := []string{"."}
	for _, f := range files {
		if dir := path.Dir(f); path.Base(f) == "go.mod" && dir != "." && !elsewhere.MatchString(dir) {
			modules = append(modules, dir)
		}
	}
	measured, err := h.ask(ctx, "grep", "-l", "^func Benchmark", "HEAD", "--", "*_test.go")
	if err != nil {
		return []string{"."}, nil // none in the newest commit; there may have been some
	}
	count := map[string]int{}
	for _, f := range measured {
		count[nearest(modules, path.Dir(strings.TrimPrefix(f, "HEAD:")))]++
	}
	var out []string
	for m := range count {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return out, nil
}

// nearest is the folder that has dir below it, the deepest of several.
func nearest(folders []string, dir string) string {
	best := "."
	for _, f := range folders {
		if (f == dir || strings.HasPrefix(dir, f+"/")) && len(f) >= len(best) {
			best = f
		}
	}
	return best
}

// releases are the versions of the module in a folder, oldest first.
func (h *history) releases(ctx context.Context, folder string) ([]release, error) {
	prefix := ""
	if folder != "." {
		prefix = folder + "/"
	}
	tags, err := h.ask(ctx, "tag", "-l", prefix+"v*")
	if err != nil {
		return nil, err
	}
	home := h.root(ctx)
	known := map[string]map[string]bool{}
	var out []release
	for _, tag := range tags {
		version := strings.TrimPrefix(tag, prefix)
		if semver.Canonical(version) != version {
			continue
		}
		path := home
		text, err := h.ask(ctx, "show", tag+":"+prefix+"go.mod")
		if err == nil {
			path = modfile.ModulePath([]byte(strings.Join(text, "\n")))
		} else if folder != "." {
			continue
		}
		_, major, _ := module.SplitPathVersion(path)
		if module.CheckPathMajor(version, major) != nil {
			if err == nil || semver.Major(version) < "v2" {
				continue
			}
			version += "+incompatible"
		}
		if known[path] == nil {
			known[path] = published(ctx, path)
		}
		if known[path][version] {
			out = append(out, release{tag, path, version})
		}
	}
	slices.SortFunc(out, func(a, b release) int { return semver.Compare(a.version, b.version) })
	return out, nil
}

// published are the versions of a module that the module proxy lists.
func published(ctx context.Context, module string) map[string]bool {
	out, _ := bench.Command(ctx, gitLimit, os.TempDir(), "go", "list", "-m", "-versions", module) // no module, no versions
	versions := map[string]bool{}
	for _, v := range strings.Fields(string(out)) {
		versions[v] = true
	}
	return versions
}

// root is the path of the repository's first module, without a major version.
func (h *history) root(ctx context.Context) string {
	if text, err := h.ask(ctx, "show", "HEAD:go.mod"); err == nil {
		p, _, _ := module.SplitPathVersion(modfile.ModulePath([]byte(strings.Join(text, "\n"))))
		return p
	}
	return "github.com/" + h.name
}

// pair is a release, the one before it, and the commits between them that speak of allocations.
type pair struct {
	History string   `json:"history"`
	Root    string   `json:"root"` // path of the repository's first module
	Module  string   `json:"module"`
	Folder  string   `json:"folder"`
	Before  string   `json:"before"`
	After   string   `json:"after"`
	Tags    []string `json:"tags"` // of both
	Commits []commit `json:"commits"`
	Score   int      `json:"score"`
	Only    []string `json:"only,omitempty"` // benchmarks that are measured; empty: all
}

func (p pair) key() string {
	key := p.Module + "@" + p.Before + ".." + p.After
	if len(p.Only) > 0 {
		key += "#" + strings.Join(p.Only, ",")
	}
	return key
}

// commit is one that speaks of allocations.
type commit struct {
	Hash    string   `json:"hash"`
	Subject string   `json:"subject"`
	Score   int      `json:"score"`
	Folders []string `json:"folders,omitempty"` // of packages whose code it changes, relative to the module
}

// pairs are the pairs of releases with such commits, the best first.
func (h *history) pairs(ctx context.Context, folder string) ([]pair, error) {
	list, err := h.releases(ctx, folder)
	if err != nil {
		return nil, err
	}
	var out []pair
	root := h.root(ctx)
	for i, r := range list {
		b, found := h.before(ctx, list[:i], r)
		if !found || ctx.Err() != nil {
			continue
		}
		p := pair{History: h.name, Root: root, Module: r.module, Folder: folder, Before: b.version, After: r.version, Tags: []string{b.tag, r.tag}}
		if p.Commits, err = h.between(ctx, p); err != nil {
			return nil, err
		}
		best := 0
		for _, c := range p.Commits {
			best = max(best, c.Score)
			p.Score++
		}
		if p.Score = min(p.Score, 9) + 10*best; len(p.Commits) > 0 {
			out = append(out, p)
		}
	}
	slices.Reverse(out) // the newest first
	slices.SortStableFunc(out, func(a, b pair) int { return cmp.Compare(b.Score/10, a.Score/10) })
	return out, nil
}

// before is the release that r follows: the newest one of the same module that r's history contains.
func (h *history) before(ctx context.Context, older []release, r release) (release, bool) {
	for i, tries := len(older)-1, 0; i >= 0 && tries < 8; i, tries = i-1, tries+1 {
		if older[i].module != r.module {
			continue
		}
		if _, err := h.ask(ctx, "merge-base", "--is-ancestor", older[i].tag, r.tag); err == nil {
			return older[i], true
		}
	}
	return release{}, false
}

var (
	strong = regexp.MustCompile(`(?i)\b(de)?alloc(s|ation|ations|ating|ate|ated)?\b|\bescap(es?|ing) (analysis|to (the )?heap)|sync\.pool|\bpool(s|ed|ing)?\b|pre-?alloc|garbage|\bgc\b|mem(ory)? (usage|use|footprint|consumption)|zero[- ]copy|allocs/op|\bB/op|strings\.builder|reus(e|ing) |\bboxing\b|reduc\w+ memory`)
	weak   = regexp.MustCompile(`(?i)\bperf(ormance)?\b|optimi[sz]|faster|\bspeed|\bcach(e|ed|ing)\b|unnecessary|\befficien|copies|copying|\bbuffers?\b|improve`)
)

// score says how much a message speaks of allocations.
func score(subject, body string) int {
	switch {
	case strong.MatchString(subject):
		return 3
	case strong.MatchString(body):
		return 2
	case weak.MatchString(subject):
		return 1
	}
	return 0
}

// between are the commits of a pair that speak of allocations and change code of the module.
func (h *history) between(ctx context.Context, p pair) ([]commit, error) {
	const end, sep = "\x01", "\x00"
	lines, err := h.ask(ctx, "log", "--no-merges", "-n", "2000", "--format=%H%x00%s%x00%b%x01", p.Tags[0]+".."+p.Tags[1], "--", p.Folder)
	if err != nil {
		return nil, err
	}
	var out []commit
	for text := range strings.SplitSeq(strings.Join(lines, "\n"), end) {
		parts := strings.SplitN(strings.TrimSpace(text), sep, 3)
		if len(parts) < 3 {
			continue
		}
		c := commit{Hash: parts[0], Subject: parts[1], Score: score(parts[1], parts[2])}
		if h.commits[c.Hash] {
			c.Score++
		}
		if c.Score == 0 && !h.any {
			continue
		}
		if c.Folders, err = h.changed(ctx, c.Hash, p.Folder); err != nil {
			return nil, err
		}
		if len(c.Folders) > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b commit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// changed are the folders of the packages whose code a commit changes, relative to the module.
func (h *history) changed(ctx context.Context, hash, folder string) ([]string, error) {
	files, err := h.ask(ctx, "show", "--format=", "--name-only", hash, "--", folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		dir := path.Dir(f)
		if path.Ext(f) != ".go" || strings.HasSuffix(f, "_test.go") || elsewhere.MatchString(dir) {
			continue
		}
		if folder != "." {
			dir = path.Join(".", strings.TrimPrefix(strings.TrimPrefix(dir, folder), "/"))
		}
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out, nil
}

// nested reports whether a folder of the module, at the release after, is of another module.
func (h *history) nested(ctx context.Context, p pair) func(dir string) bool {
	files, _ := h.ask(ctx, "ls-tree", "-r", "--name-only", p.Tags[1], "--", p.Folder) // none: nothing is nested
	folders := []string{p.Folder}
	for _, f := range files {
		if path.Base(f) == "go.mod" {
			folders = append(folders, path.Dir(f))
		}
	}
	return func(dir string) bool { return nearest(folders, path.Join(p.Folder, dir)) != p.Folder }
}

// mostPackages are measured of a pair.
const mostPackages = 5

// packages are the folders with benchmarks that may show what a pair's commits did: those that
// they change, then those that import one of them, then the module's root.
func (h *history) packages(ctx context.Context, p pair) []string {
	in := func(pattern string) []string {
		files, _ := h.ask(ctx, "grep", "-l", "-E", pattern, p.Tags[1], "--", path.Join(p.Folder, "*_test.go"), path.Join(p.Folder, "*.go"))
		var out []string
		for _, f := range files {
			dir := path.Dir(strings.TrimPrefix(f, p.Tags[1]+":"))
			if p.Folder != "." {
				dir = path.Join(".", strings.TrimPrefix(strings.TrimPrefix(dir, p.Folder), "/"))
			}
			if !slices.Contains(out, dir) && !elsewhere.MatchString(dir) {
				out = append(out, dir)
			}
		}
		return out
	}
	pattern := `\w*`
	if len(p.Only) > 0 {
		pattern = "(" + strings.ReplaceAll(strings.Join(p.Only, "|"), "Benchmark", "") + ")"
	}
	measured := slices.DeleteFunc(in(`^func Benchmark`+pattern+`\(`), h.nested(ctx, p))
	var out []string
	add := func(dir string) {
		if slices.Contains(measured, dir) && !slices.Contains(out, dir) && len(out) < mostPackages {
			out = append(out, dir)
		}
	}
	var touched []string
	for _, c := range p.Commits {
		for _, dir := range c.Folders {
			add(dir)
			touched = append(touched, dir)
		}
	}
	if p.Score == 0 && len(out) > 0 {
		return out // of a picked commit its own packages are enough
	}
	add(".")
	for _, dir := range touched[:min(len(touched), 8)] {
		for _, user := range in(`"` + regexp.QuoteMeta(path.Join(p.Module, dir)) + `"`) {
			add(user)
		}
	}
	return out
}
