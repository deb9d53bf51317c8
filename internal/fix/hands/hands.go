// Package hands lets an outside program change a private copy of a module, within limits, and takes from
// it what it changed, if that is what it may change.
package hands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Copy is a private copy of a module.
type Copy struct {
	Dir    string // of the copy
	Module string // of the original
	root   string // of all that was copied; the module or its workspace
	before map[string][]byte
}

// mostFile is the size above which a file is copied and not looked at.
const mostFile = 8 << 20

// Original is what a copy is made of.
type Original struct {
	Module    string            // its folder
	Workspace string            // the go.work file that it is part of; "" for none
	Files     map[string][]byte // that take the place of the module's, by name; without content: removed
}

// New copies a module, or the workspace that it is part of, without what git keeps.
func New(ctx context.Context, o Original, to string) (*Copy, error) {
	module, root := o.Module, o.Module
	if o.Workspace != "" {
		root = filepath.Dir(o.Workspace)
	}
	rel, err := filepath.Rel(root, module)
	if err != nil || !filepath.IsLocal(rel) {
		root, rel = module, "."
	}
	c := &Copy{Dir: filepath.Join(to, rel), Module: module, root: root, before: map[string][]byte{}}
	if err := copyTree(ctx, root, to); err != nil {
		return nil, err
	}
	for name, text := range o.Files {
		at, err := c.at(name)
		if err != nil {
			return nil, err
		}
		if text == nil {
			err = os.Remove(at)
		} else {
			err = os.WriteFile(at, text, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	c.before, err = c.read()
	return c, err
}

// at is where the copy has a file of the module.
func (c *Copy) at(name string) (string, error) {
	rel, err := filepath.Rel(c.Module, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in %s", name, c.Module)
	}
	return filepath.Join(c.Dir, rel), nil
}

// copyTree copies a tree. The folder for temporary files that the copy is in is left out where that is in the
// tree itself.
func copyTree(ctx context.Context, from, to string) error {
	temporary := filepath.Dir(to)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || path == temporary || path != from && path == filepath.Dir(temporary)):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case !d.Type().IsRegular():
			return nil // links lead out of the copy
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, info.Mode().Perm()|0o200)
	})
}

// read reads all files of the copy.
func (c *Copy) read() (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(c.Dir, path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			out[rel] = []byte("not a file: " + d.Type().String())
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > mostFile {
			out[rel] = fmt.Appendf(nil, "%d bytes of %v", info.Size(), info.ModTime())
			return nil
		}
		out[rel], err = os.ReadFile(path)
		return err
	})
	return out, err
}

// ErrRefused means that the program changed what it may not.
var ErrRefused = errors.New("refused")

// Changes are the files that differ from what the program was given: their content before and after, by
// the names that they have in the module. A file without content before is new, one without content
// after was removed. The error is ErrRefused if one of them is not of the folders, or is not to be changed.
func (c *Copy) Changes(folders []string) (before, after map[string][]byte, err error) {
	now, err := c.read()
	if err != nil {
		return nil, nil, err
	}
	before, after = map[string][]byte{}, map[string][]byte{}
	var names []string
	for name, text := range now {
		if old, ok := c.before[name]; !ok || !bytes.Equal(old, text) {
			names = append(names, name)
		}
	}
	for name := range c.before {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		old, was := c.before[name]
		text, is := now[name]
		if why := refused(name, old, text, folders); why != "" {
			return nil, nil, fmt.Errorf("%w: it changes %s, %s", ErrRefused, filepath.ToSlash(name), why)
		}
		at := filepath.Join(c.Module, name)
		if was {
			before[at] = old
		}
		after[at] = nil
		if is {
			after[at] = text
		}
	}
	return before, after, nil
}

// refused says why a file must stay as it is; "" if it may be changed so.
func refused(name string, old, now []byte, folders []string) string {
	base, dir := filepath.Base(name), filepath.ToSlash(filepath.Dir(name))
	switch parts := strings.Split(dir, "/"); {
	case base == "go.mod" || base == "go.sum" || base == "go.work" || base == "go.work.sum":
		return "which says what the module depends on"
	case slices.Contains(parts, "testdata"):
		return "which is test data"
	case slices.Contains(parts, "vendor"):
		return "which is vendored"
	case strings.HasSuffix(base, "_test.go"):
		return "which is a test"
	case !slices.Contains(folders, dir):
		return "which is outside the packages of the finding"
	case filepath.Ext(base) != ".go":
		return "which is not Go source"
	case now == nil:
		return "which would be gone"
	}
	before, err := parser.ParseFile(token.NewFileSet(), name, old, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		before = nil
	}
	after, err := parser.ParseFile(token.NewFileSet(), name, now, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "which does not parse any more"
	}
	if constraints(before, base, old == nil) != constraints(after, base, old == nil) {
		return "whose build tags differ"
	}
	for _, path := range []string{"C", "unsafe", "testing", "plugin", "os/exec", "syscall"} {
		if imports(after, path) && !imports(before, path) {
			return fmt.Sprintf("which imports %q now", path)
		}
	}
	if n := directives(after) - directives(before); n > 0 {
		return "which has a new //go: directive"
	}
	return ""
}

// constraints are the build tags of a file; of a new one also those that its name stands for.
func constraints(f *ast.File, base string, fresh bool) string {
	if f == nil {
		return ""
	}
	var out []string
	for _, g := range f.Comments {
		for _, c := range g.List {
			if c.Pos() < f.Package && constraint.IsGoBuild(c.Text) {
				out = append(out, c.Text)
			}
		}
	}
	if fresh && strings.Contains(strings.TrimSuffix(base, ".go"), "_") {
		out = append(out, base) // it may be for one platform only
	}
	return strings.Join(out, "\n")
}

func imports(f *ast.File, path string) bool {
	return f != nil && slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		have, err := strconv.Unquote(i.Path.Value)
		return err == nil && have == path
	})
}

// directives counts the comments that tell the compiler or the linker something.
func directives(f *ast.File) int {
	if f == nil {
		return 0
	}
	n := 0
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:") && !constraint.IsGoBuild(c.Text) {
				n++
			}
		}
	}
	return n
}
