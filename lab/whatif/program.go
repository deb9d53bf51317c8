//go:build unix

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is a program under test: a main package of a public module, how to
// run it, and the load on it.
type program struct {
	name   string
	module string // path@version
	pkg    string // main package, relative to the module
	drop   bool   // the module's replace directives point outside of it
	env    []string
	files  map[string]string // written to the work folder's sub-folder of that name
	args   []string
	ready  string
	load   string // shell command; "" for a program that ends by itself
	prime  string // shell command in the program's folder, once it is built
	before string // shell command in the program's folder, before each run
	batch  bool
	set    set
}

// set says what a program was for.
type set string

// The sets. The model was changed while the rows of the tuned programs were
// looked at, then judged by those held out, mended by what they showed,
// judged by the later ones, changed once more, and judged by the last ones.
const (
	tuned  set = "tuned"
	held   set = "held"
	later  set = "later"
	last   set = "last"
	fresh  set = "fresh"  // see maker.fresh
	newer  set = "newer"  // see maker.newer
	newest set = "newest" // see maker.newest
)

func sets() []set { return []set{newest, newer, fresh, last, later, held, tuned} }

func (o options) dir(p program, more ...string) string {
	return filepath.Join(append([]string{o.work, p.name}, more...)...)
}

//go:embed sampler.go.tmpl
var sampler string

// build copies the module, adds the sampler to its main package and builds it.
func (p program) build(o options) error {
	for name, text := range p.files {
		at := o.dir(p, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	source := o.dir(p, "src")
	if same, err := o.built(p); same || err != nil {
		return err
	}
	out, err := exec.Command("go", "mod", "download", "-json", p.module).Output()
	if err != nil {
		return fmt.Errorf("fetch %s: %w", p.module, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir(p), 0o755); err != nil {
		return err
	}
	if err := shell("", "rm -rf %q && cp -r %q %q && chmod -R u+w %q", source, found.Dir, source, source); err != nil {
		return err
	}
	if p.drop {
		if err := dropReplace(source); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(source, p.pkg, "zz_whatif.go"), []byte(sampler), 0o644); err != nil {
		return err
	}
	if err := shell(source, "go build -mod=mod -o %q ./%s", o.dir(p, "bin"), p.pkg); err != nil {
		return err
	}
	if p.prime == "" {
		return nil
	}
	return shell(o.dir(p), "%s", p.prime)
}

// built tells whether the program is there, with the sampler of today.
func (o options) built(p program) (bool, error) {
	if _, err := os.Stat(o.dir(p, "bin")); err != nil {
		return false, nil
	}
	text, err := os.ReadFile(filepath.Join(o.dir(p, "src"), p.pkg, "zz_whatif.go"))
	if os.IsNotExist(err) {
		return false, nil
	}
	return string(text) == sampler, err
}

// dropReplace removes the replace directives of a module.
func dropReplace(source string) error {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = source
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var mod struct {
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	for _, r := range mod.Replace {
		if err := shell(source, "go mod edit -dropreplace %q", r.Old.Path); err != nil {
			return err
		}
	}
	return nil
}

func shell(dir, format string, args ...any) error {
	cmd := exec.Command("sh", "-c", fmt.Sprintf(format, args...))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[2], err, lastLine(out))
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
