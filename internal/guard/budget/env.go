package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Env is where figures are measured. Figures of one environment need not hold in another.
type Env struct {
	Go   string // release, such as 1.26
	OS   string
	Arch string
	Tags string // build tags in order, joined by commas
}

// String names the environment for people.
func (e Env) String() string {
	text := fmt.Sprintf("go%s %s/%s", e.Go, e.OS, e.Arch)
	if e.Tags != "" {
		text += " tags=" + e.Tags
	}
	return text
}

// Release shortens the version of a toolchain to its release: figures do not depend on patches.
func Release(version string) string {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ")
	major, rest, ok := strings.Cut(version, ".")
	if !ok {
		return version
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return major + "." + rest[:digits]
}

// JoinTags puts build tags in order.
func JoinTags(tags []string) string {
	tags = slices.Clone(tags)
	slices.Sort(tags)
	return strings.Join(slices.Compact(tags), ",")
}

// noTags is the key of a line that holds where no build tag is set.
const noTags = "none"

// Keys say where a line holds; an empty one does not restrict it.
type Keys struct {
	Go, OS, Arch, Tags string
	CPU                int // GOMAXPROCS
}

func (k Keys) hold(e Env, cpu int) bool {
	return (k.Go == "" || k.Go == e.Go) && (k.OS == "" || k.OS == e.OS) && (k.Arch == "" || k.Arch == e.Arch) &&
		(k.Tags == "" || k.Tags == e.Tags || k.Tags == noTags && e.Tags == "") && (k.CPU == 0 || k.CPU == cpu)
}

func (k Keys) count() int {
	n := 0
	for _, s := range []string{k.Go, k.OS, k.Arch, k.Tags} {
		if s != "" {
			n++
		}
	}
	if k.CPU != 0 {
		n++
	}
	return n
}

// String is how keys are written in the file: "" for none.
func (k Keys) String() string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"go", k.Go}, {"os", k.OS}, {"arch", k.Arch}, {"tags", k.Tags}} {
		if p.value != "" {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	if k.CPU != 0 {
		parts = append(parts, "cpu="+strconv.Itoa(k.CPU))
	}
	return strings.Join(parts, " ")
}

// set reads one key; false if there is none of that name.
func (k *Keys) set(name, value string) bool {
	switch name {
	case "go":
		k.Go = value
	case "os":
		k.OS = value
	case "arch":
		k.Arch = value
	case "tags":
		k.Tags = value
	case "cpu":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return false
		}
		k.CPU = n
	default:
		return false
	}
	return true
}
