package budget

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// version is the first line of a file that is no comment.
const version = "heaptrim.budget/1"

// heading is the first line of every file that is written.
const heading = "# Allocation budgets: 'heaptrim guard' checks them, 'heaptrim guard update' writes them."

// SyntaxError is a line of a budget file that makes no sense.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Parse reads a budget file. name is for messages.
func Parse(name string, text []byte) (*File, error) {
	f := &File{Rules: Rules{}}
	seen := map[string]int{}
	for i, raw := range strings.Split(string(text), "\n") {
		fail := func(format string, args ...any) (*File, error) {
			return nil, &SyntaxError{name, i + 1, fmt.Sprintf(format, args...)}
		}
		line := strings.TrimSpace(raw)
		switch {
		case line == "" || line == heading:
			continue
		case line[0] == '#':
			f.Notes = append(f.Notes, line)
			continue
		case strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "=======") || strings.HasPrefix(line, ">>>>>>>"):
			return fail("a merge conflict is not resolved")
		}
		if line == version {
			seen[version] = i + 1
			continue
		}
		if seen[version] == 0 {
			return fail("want %s before the first line", version)
		}
		if known, err := f.directive(line); known || err != nil {
			if err != nil {
				return fail("%v", err)
			}
			continue
		}
		l, err := parseLine(line)
		if err != nil {
			return fail("%v", err)
		}
		key := l.key()
		if at := seen[key]; at > 0 {
			return fail("the same benchmark as in line %d", at)
		}
		seen[key] = i + 1
		f.Lines = append(f.Lines, l)
	}
	if seen[version] == 0 {
		return nil, &SyntaxError{name, 1, "no budget file: want " + version}
	}
	if len(f.CPU) == 0 {
		f.CPU = []int{1}
	}
	f.Sort()
	return f, nil
}

// directive reads the lines at the top of the file.
func (f *File) directive(line string) (known bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "env":
		f.Home, err = parseEnv(rest)
	case "cpu":
		f.CPU, err = ParseCPU(rest)
	case "store":
		f.Store = rest
	case "rule":
		for _, item := range strings.Fields(rest) {
			if err = f.Rules.set(item); err != nil {
				break
			}
		}
	default:
		return false, nil
	}
	return true, err
}

func parseEnv(text string) (Env, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 || len(fields) > 3 || !strings.HasPrefix(fields[0], "go") {
		return Env{}, fmt.Errorf("env %s: want env goRELEASE OS/ARCH [tags=TAGS]", text)
	}
	os, arch, ok := strings.Cut(fields[1], "/")
	e := Env{Go: strings.TrimPrefix(fields[0], "go"), OS: os, Arch: arch}
	if len(fields) == 3 {
		tags, is := strings.CutPrefix(fields[2], "tags=")
		e.Tags, ok = tags, ok && is
	}
	if !ok {
		return Env{}, fmt.Errorf("env %s: want env goRELEASE OS/ARCH [tags=TAGS]", text)
	}
	return e, nil
}

// ParseCPU reads a list of values of GOMAXPROCS, as -cpu of go test takes it.
func ParseCPU(text string) ([]int, error) {
	var list []int
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("cpu %s: want numbers from 1, joined by commas", text)
		}
		list = append(list, n)
	}
	return list, nil
}

func (l Line) key() string {
	return strings.Join([]string{l.Package, l.Name, l.Site, l.Keys.String()}, "\x00")
}

// parseLine reads the line of a benchmark, a site or a type.
func parseLine(line string) (Line, error) {
	text, reason, _ := strings.Cut(line, " # ")
	l := Line{Reason: strings.TrimSpace(reason)}
	fields := strings.Fields(text)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], ".") {
		return l, fmt.Errorf("want ./PACKAGE BENCHMARK [KEY=VALUE…] AMOUNT allocs/op AMOUNT B/op N=OPERATIONS [# reason]")
	}
	l.Package, l.Name = fields[0], fields[1]
	rest := fields[2:]
	for len(rest) > 0 && strings.Contains(rest[0], "=") && !strings.HasPrefix(rest[0], "N=") {
		name, value, _ := strings.Cut(rest[0], "=")
		switch {
		case name == "site":
			l.Site = value
		case !l.Keys.set(name, value):
			return l, fmt.Errorf("%s: want one of go=, os=, arch=, tags=, cpu=, site=", rest[0])
		}
		rest = rest[1:]
	}
	if l.Type() {
		return l, l.parseSize(rest)
	}
	if len(rest) != 5 || rest[1] != "allocs/op" || rest[3] != "B/op" {
		return l, fmt.Errorf("want AMOUNT allocs/op AMOUNT B/op N=OPERATIONS behind the name")
	}
	ops, ok := strings.CutPrefix(rest[4], "N=")
	n, err := strconv.ParseInt(ops, 10, 64)
	if !ok || err != nil || n < 1 || n > MaxOps {
		return l, fmt.Errorf("%s: want N= with the operations of a run, 1 to %d", rest[4], MaxOps)
	}
	l.Figure.Ops = n
	if l.Figure.Allocs, l.Figure.Tolerance.Allocs, err = parseAmount(rest[0]); err == nil {
		l.Figure.Bytes, l.Figure.Tolerance.Bytes, err = parseAmount(rest[2])
	}
	return l, err
}

// MaxOps is the largest number of operations of a run.
const MaxOps = 1000

// parseSize reads the size of a type and that of its size class, which go where a benchmark has
// allocations and bytes.
func (l *Line) parseSize(rest []string) error {
	if len(rest) == 4 && rest[1] == "bytes" && rest[2] == "class" {
		size, err := strconv.ParseInt(rest[0], 10, 64)
		class, err2 := strconv.ParseInt(rest[3], 10, 64)
		if err == nil && err2 == nil && size >= 0 && class >= 0 {
			l.Figure = Figure{Amount: Amount{Allocs: float64(size), Bytes: float64(class)}, Ops: 1}
			return nil
		}
	}
	return fmt.Errorf("want SIZE bytes class SIZE behind the name of a type")
}

// parseAmount reads 12, 12.003 or 12.003±0.01.
func parseAmount(text string) (value, tolerance float64, err error) {
	v, t, has := strings.Cut(text, "±")
	value, err = strconv.ParseFloat(v, 64)
	if has && err == nil {
		tolerance, err = strconv.ParseFloat(t, 64)
	}
	if err != nil || !(value >= 0) || !(tolerance >= 0) || math.IsInf(value+tolerance, 0) {
		return 0, 0, fmt.Errorf("%s: want an amount such as 12.5 or 12.5±0.1", text)
	}
	return value, tolerance, nil
}

// Write writes the file. What is written reads back as the same.
func (f *File) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n", heading)
	for _, n := range f.Notes {
		fmt.Fprintf(b, "%s\n", n)
	}
	fmt.Fprintf(b, "%s\nenv %s\n", version, f.Home)
	cpus := make([]string, len(f.CPU))
	for i, n := range f.CPU {
		cpus[i] = strconv.Itoa(n)
	}
	fmt.Fprintf(b, "cpu %s\n", strings.Join(cpus, ","))
	if f.Store != "" {
		fmt.Fprintf(b, "store %s\n", f.Store)
	}
	if len(f.Rules) > 0 {
		fmt.Fprintf(b, "rule %s\n", f.Rules)
	}
	b.WriteByte('\n')
	for _, l := range f.Lines {
		fmt.Fprintln(b, l)
	}
	return b.Flush()
}

// Bytes is what Write writes.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	_ = f.Write(&b) // a buffer takes all
	return b.Bytes()
}

// String is the line as it is written.
func (l Line) String() string {
	parts := []string{l.Package, l.Name}
	if l.Site != "" {
		parts = append(parts, "site="+l.Site)
	}
	if k := l.Keys.String(); k != "" {
		parts = append(parts, k)
	}
	if l.Type() {
		parts = append(parts, Number(l.Figure.Allocs), "bytes class", Number(l.Figure.Bytes))
	} else {
		parts = append(parts, l.Figure.String(), fmt.Sprintf("N=%d", l.Figure.Ops))
	}
	if l.Reason != "" {
		parts = append(parts, "# "+l.Reason)
	}
	return strings.Join(parts, " ")
}

// String gives both amounts with their tolerances.
func (f Figure) String() string {
	return withTolerance(f.Allocs, f.Tolerance.Allocs) + " allocs/op " + withTolerance(f.Bytes, f.Tolerance.Bytes) + " B/op"
}

func withTolerance(v, t float64) string {
	if t > 0 {
		return Number(v) + "±" + Number(t)
	}
	return Number(v)
}

// Number prints a mean of at most MaxOps operations without loss.
func Number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
