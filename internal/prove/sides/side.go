// Package sides reads what the sides of a comparison are to be, and makes each
// ready for building: its files in a folder, its settings, its toolchain.
package sides

import (
	"fmt"
	"slices"
	"strings"
)

// Source says where the code of a side comes from.
type Source string

// The sources.
const (
	Any      Source = ""     // not said: the working tree
	Work     Source = "work" // the files as they are
	Revision Source = "rev"  // a git revision, in a temporary folder
	Dir      Source = "dir"  // another folder
)

// Side is one of the two programs of a comparison: where its code comes from,
// how it is built and under which settings it runs. The zero value is the
// working tree, built and run as the go command does by default.
type Side struct {
	Source     Source
	At         string   // revision or folder
	Overlay    string   // file for the go command's -overlay; "" for none
	Env        []string // KEY=VALUE for building and running
	Toolchain  string   // GOTOOLCHAIN; "" leaves it
	Experiment string   // GOEXPERIMENT; "" leaves it
	Tags       string   // build tags; "" for none but those of the build flags
	Version    string   // of a released command's module; "" is that of the command
}

// spec is a word of a side's specification.
type spec struct {
	word, value string // value names what stands behind the colon; "" for nothing
	set         func(*Side, string) error
}

func (k spec) form() string {
	if k.value == "" {
		return k.word
	}
	return k.word + ":" + k.value
}

func specs() []spec {
	return []spec{
		{"work", "", func(s *Side, v string) error { return s.source(Work, v) }},
		{"rev", "REVISION", func(s *Side, v string) error { return s.source(Revision, v) }},
		{"dir", "FOLDER", func(s *Side, v string) error { return s.source(Dir, v) }},
		{"overlay", "FILE", func(s *Side, v string) error { return once(&s.Overlay, v) }},
		{"env", "NAME=VALUE", func(s *Side, v string) error {
			if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
				return fmt.Errorf("env:%s: want NAME=VALUE", v)
			}
			s.Env = append(s.Env, v)
			return nil
		}},
		{"toolchain", "goVERSION", func(s *Side, v string) error { return once(&s.Toolchain, v) }},
		{"experiment", "NAME", func(s *Side, v string) error { return once(&s.Experiment, v) }},
		{"tags", "TAG", func(s *Side, v string) error { return once(&s.Tags, v) }},
		{"version", "VERSION", func(s *Side, v string) error { return once(&s.Version, v) }},
	}
}

func (s *Side) source(kind Source, at string) error {
	if s.Source != Any {
		return fmt.Errorf("two sources of code, %s and %s", s, Side{Source: kind, At: at})
	}
	s.Source, s.At = kind, at
	return nil
}

func once(field *string, v string) error {
	if *field != "" {
		return fmt.Errorf("%q and %q contradict each other", *field, v)
	}
	*field = v
	return nil
}

// Parse reads a specification such as "rev:HEAD~1",
// "dir:../other,env:GOGC=400" or "work,toolchain:go1.27.4". What stands behind a
// comma and begins with no word of ours goes on with the value before it, so
// GODEBUG and GOEXPERIMENT lists need no quoting.
func Parse(text string) (Side, error) {
	var s Side
	for _, item := range splitSpec(text) {
		word, value, colon := strings.Cut(item, ":")
		i := slices.IndexFunc(specs(), func(k spec) bool { return k.word == word })
		if i < 0 {
			return Side{}, fmt.Errorf("%q is none of %s", item, specWords())
		}
		k := specs()[i]
		if (k.value != "") != (colon && value != "") {
			return Side{}, fmt.Errorf("%q: want %s", item, k.form())
		}
		if err := k.set(&s, value); err != nil {
			return Side{}, err
		}
	}
	return s, nil
}

// splitSpec cuts a specification at the commas that a word of ours follows.
func splitSpec(text string) []string {
	var items []string
	for part := range strings.SplitSeq(text, ",") {
		word, _, _ := strings.Cut(part, ":")
		ours := slices.ContainsFunc(specs(), func(k spec) bool { return k.word == word })
		if len(items) == 0 || ours {
			items = append(items, part)
		} else {
			items[len(items)-1] += "," + part
		}
	}
	return items
}

func specWords() string {
	var words []string
	for _, k := range specs() {
		words = append(words, k.form())
	}
	return strings.Join(words, ", ")
}

// String is the side's specification, as ParseSide reads it.
func (s Side) String() string {
	var parts []string
	add := func(word, value string) {
		if value != "" {
			parts = append(parts, word+":"+value)
		}
	}
	switch s.Source {
	case Any:
	case Work:
		parts = append(parts, "work")
	default:
		add(string(s.Source), s.At)
	}
	add("overlay", s.Overlay)
	for _, e := range s.Env {
		add("env", e)
	}
	add("toolchain", s.Toolchain)
	add("experiment", s.Experiment)
	add("tags", s.Tags)
	add("version", s.Version)
	if len(parts) == 0 {
		return "work"
	}
	return strings.Join(parts, ",")
}

// Complete fills in where the code of the sides comes from, as far as they do not
// say it. A nil a was not given at all, and others may be empty. Without any,
// the last commit is compared with the working tree; a side that only names
// settings is the working tree, and so is then the first, if it was not given.
func Complete(a *Side, others ...Side) []Side {
	var first Side
	if a != nil {
		first = *a
	}
	code := true // every other side is a revision or the working tree, as such
	for _, s := range others {
		code = code && (s.Source == Revision || s.Source == Work)
	}
	if a == nil && code {
		first.Source, first.At = Revision, "HEAD"
	}
	sides := append([]Side{first}, others...)
	if len(others) == 0 {
		sides = append(sides, Side{Source: Work})
	}
	for i := range sides {
		if sides[i].Source == Any {
			sides[i].Source = Work
		}
	}
	return sides
}

// runOnly are the settings that must not reach the go command, which is a Go
// program itself.
func runOnly(env string) bool {
	name, _, _ := strings.Cut(env, "=")
	return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS", "GOTRACEBACK"}, name)
}

// buildEnv is what the side adds to the environment of the go command.
func (s Side) buildEnv() []string {
	var env []string
	for _, e := range s.Env {
		if !runOnly(e) {
			env = append(env, e)
		}
	}
	if s.Toolchain != "" {
		env = append(env, "GOTOOLCHAIN="+s.Toolchain)
	}
	if s.Experiment != "" {
		env = append(env, "GOEXPERIMENT="+s.Experiment)
	}
	return env
}

// code is the side without the settings that only count when it runs. Two
// sides of the same code are built once.
func (s Side) code() string {
	c := s
	c.Env = slices.DeleteFunc(slices.Clone(s.Env), runOnly)
	return c.String()
}

// setting returns the value of a variable that the side sets.
func (s Side) setting(name string) (string, bool) {
	for i := len(s.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(s.Env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
