package budget

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// version is the first line of a file that is no comment.
const (
	versionPrefix = "heaptrim.budget/"
	version       = versionPrefix + "1"
)

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

// mostBytes is more than budgets of the largest modules take.
const mostBytes = 32 << 20

// Parse reads a budget file. name is for messages.
func Parse(name string, text []byte) (*File, error) {
	if len(text) > mostBytes {
		return nil, &SyntaxError{name, 1, fmt.Sprintf("%d bytes are no budget file: want at most %d", len(text), mostBytes)}
	}
	p := parser{file: &File{Rules: Rules{}}, seen: map[string]int{}}
	at := 0
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		at++
		if err := p.line(strings.TrimSpace(string(raw)), at); err != nil {
			return nil, &SyntaxError{name, at, err.Error()}
		}
	}
	if p.seen[version] == 0 {
		return nil, &SyntaxError{name, 1, "no budget file: want " + version}
	}
	if p.seen["env"] == 0 {
		return nil, &SyntaxError{name, p.seen[version], "no line says where the budgets were measured: want env goRELEASE OS/ARCH"}
	}
	if len(p.file.CPU) == 0 {
		p.file.CPU = []int{1}
	}
	p.file.Sort()
	return p.file, nil
}

// parser reads a file line by line.
type parser struct {
	file *File
	seen map[string]int // number of the line, from 1, of each key that may be there once
}

// line reads one line.
func (p parser) line(line string, at int) error {
	switch {
	case line == "" || line == heading:
		return nil
	case line[0] == '#':
		p.file.Notes = append(p.file.Notes, line)
		return nil
	case strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "|||||||") || strings.HasPrefix(line, "=======") || strings.HasPrefix(line, ">>>>>>>"):
		return errors.New("a merge conflict is not resolved: keep either side, and 'heaptrim guard update' measures what is right")
	case strings.HasPrefix(line, versionPrefix) && line != version:
		return fmt.Errorf("%s is of another release of heaptrim: this one reads %s", clip(line), version)
	case line == version:
		return p.once(version, at)
	case p.seen[version] == 0:
		return fmt.Errorf("want %s before the first line", version)
	}
	if word, _, _ := strings.Cut(line, " "); slices.Contains([]string{"env", "cpu", "store"}, word) {
		if err := p.once(word, at); err != nil {
			return err
		}
	}
	if known, err := p.file.directive(line); known || err != nil {
		return err
	}
	l, err := parseLine(line)
	if err != nil {
		return err
	}
	if first := p.seen[l.key()]; first > 0 {
		return fmt.Errorf("the same benchmark as in line %d", first)
	}
	p.seen[l.key()] = at
	p.file.Lines = append(p.file.Lines, l)
	return nil
}

// once notes the line of something that may be there once.
func (p parser) once(key string, at int) error {
	if first := p.seen[key]; first > 0 {
		return fmt.Errorf("%s again, as in line %d", key, first)
	}
	p.seen[key] = at
	return nil
}

// clip makes a part of a file fit for a message.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '\uFFFD'
		}
		return c
	}, text)
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
		return Env{}, fmt.Errorf("env %s: want env goRELEASE OS/ARCH [tags=TAGS]", clip(text))
	}
	os, arch, ok := strings.Cut(fields[1], "/")
	e := Env{Go: strings.TrimPrefix(fields[0], "go"), OS: os, Arch: arch}
	if len(fields) == 3 {
		tags, is := strings.CutPrefix(fields[2], "tags=")
		e.Tags, ok = tags, ok && is
	}
	if !ok {
		return Env{}, fmt.Errorf("env %s: want env goRELEASE OS/ARCH [tags=TAGS]", clip(text))
	}
	return e, nil
}

// ParseCPU reads a list of values of GOMAXPROCS, as -cpu of go test takes it.
func ParseCPU(text string) ([]int, error) {
	var list []int
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("cpu %s: want numbers from 1, joined by commas", clip(text))
		}
		if slices.Contains(list, n) {
			return nil, fmt.Errorf("cpu %s: %d is there twice", clip(text), n)
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
	if len(fields) < 4 || fields[0] != "." && !strings.HasPrefix(fields[0], "./") {
		return l, fmt.Errorf("want ./PACKAGE BENCHMARK [KEY=VALUE…] AMOUNT allocs/op AMOUNT B/op N=OPERATIONS [# reason]")
	}
	l.Package, l.Name = fields[0], fields[1]
	if !strings.HasPrefix(l.Name, "Benchmark") && !l.Type() {
		return l, fmt.Errorf("%s: want the name of a benchmark, or type: and that of a type", clip(l.Name))
	}
	rest := fields[2:]
	for len(rest) > 0 && strings.Contains(rest[0], "=") && !strings.HasPrefix(rest[0], "N=") {
		name, value, _ := strings.Cut(rest[0], "=")
		switch {
		case name == "site":
			l.Site = value
		case !l.Keys.set(name, value):
			return l, fmt.Errorf("%s: want one of go=, os=, arch=, tags=, cpu=, site=", clip(rest[0]))
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
		return l, fmt.Errorf("%s: want N= with the operations of a run, 1 to %d", clip(rest[4]), MaxOps)
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
		return 0, 0, fmt.Errorf("%s: want an amount such as 12.5 or 12.5±0.1", clip(text))
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
	// git joins changes of two branches only if an unchanged line is between them.
	for i, l := range f.Lines {
		if i == 0 || l.Whole() != f.Lines[i-1].Whole() {
			b.WriteByte('\n')
		}
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
