package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// sniffed is what the content of a file tells. Exactly one of kinds, profile and
// bundle is set.
type sniffed struct {
	path    string
	info    os.FileInfo
	kinds   []evidence.Kind // recognised by text or magic number; a log may hold several
	magic   bool            // recognised by magic number
	profile *evidence.Profile
	bundle  bool
	facts   textFacts
}

// textFacts are the headings of a benchmark text and GOMAXPROCS from gctrace.
type textFacts struct {
	goos, goarch, cpu string
	procs             int
}

// sniff recognises the kind of a file by its content; the name does not matter.
func sniff(path string) (sniffed, error) {
	s := sniffed{path: path}
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	s.info = info
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, bundleManifest)); err != nil {
			return s, fmt.Errorf("%s is a directory and not a bundle: it has no %s", path, bundleManifest)
		}
		s.bundle = true
		return s, nil
	}
	if !info.Mode().IsRegular() {
		return s, fmt.Errorf("%s is not a regular file", path)
	}
	head, err := readHead(path)
	if err != nil {
		return s, err
	}
	if len(head) == 0 {
		return s, fmt.Errorf("%s is empty", path)
	}
	if bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) {
		s.bundle = true
		return s, nil
	}
	if kind := magicKind(head); kind != "" {
		s.kinds, s.magic = []evidence.Kind{kind}, true
		return s, nil
	}
	if what := foreign(head); what != "" {
		return s, unusable(path, head, what)
	}
	return s, s.sniffContent(head)
}

// foreign names binary formats that are not evidence but may contain text that looks
// like it: every Go program contains the words of gctrace.
func foreign(head []byte) string {
	for _, f := range []struct{ magic, what string }{
		{"\x7fELF", "an executable; profiles do not need it"},
		{"MZ", "an executable; profiles do not need it"},
		{"\xcf\xfa\xed\xfe", "an executable; profiles do not need it"},
		{"PK\x03\x04", "a zip archive"},
		{"!<arch>\n", "an object archive"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.what
		}
	}
	return ""
}

func unusable(path string, head []byte, what string) error {
	if what != "" {
		what = " (" + what + ")"
	}
	return fmt.Errorf("%s is not usable: it begins with %q%s; want a CPU or heap profile, a gctrace "+
		"log, benchmark text, escape output of the compiler, perf.data, output of perf script, or a bundle",
		path, head[:min(len(head), 24)], what)
}

// sniffContent recognises pprof profiles and the kinds of text. None of these has a
// magic number.
func (s *sniffed) sniffContent(head []byte) error {
	binary := bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("\x1f\x8b"))
	if !binary {
		if err := s.sniffText(); err != nil || len(s.kinds) > 0 {
			return err
		}
	}
	p, err := pprof.Open(s.path)
	if err == nil {
		s.profile = p
		return nil
	}
	if binary && !bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		if err := s.sniffText(); err != nil || len(s.kinds) > 0 {
			return err
		}
	}
	return unknownFile(s.path, head, err)
}

// bundleManifest is the file that marks a directory as a bundle.
const bundleManifest = "manifest.json"

var traceHeader = regexp.MustCompile(`^go 1\.\d+ trace\x00`)

// magicKind recognises the binary formats that have a magic number.
func magicKind(head []byte) evidence.Kind {
	switch {
	case bytes.HasPrefix(head, []byte("PERFILE2")), bytes.HasPrefix(head, []byte("2ELIFREP")):
		return evidence.KindPerf
	case traceHeader.Match(head):
		return evidence.KindTrace
	}
	return ""
}

// seemsProfile is how many bytes of a file must parse as an uncompressed profile
// before the file is reported as a damaged profile. Other files fail within the first
// few bytes.
const seemsProfile = 256

// unknownFile is the error for a file of unknown kind. It includes the syntax error of
// the pprof reader only if the file seems to be a profile.
func unknownFile(path string, head []byte, cause error) error {
	var syntax *pprof.SyntaxError
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) || !errors.As(cause, &syntax) || syntax.Offset >= seemsProfile {
		return cause
	}
	_, what, _ := strings.Cut(syntax.Msg, "looks like ")
	return unusable(path, head, what)
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return head[:n], nil
}

// textMarker recognises a line of one kind of text. word is a cheap test before the
// pattern is tried.
type textMarker struct {
	kind    evidence.Kind
	word    string
	pattern *regexp.Regexp
}

func textMarkers() []textMarker {
	// The first line of a perf script sample ends with the event.
	perfSample := regexp.MustCompile(`^\s*\S.* \d+(/\d+)? +(\[\d+\] +)?\d+\.\d{6,9}: +(\d+ +)?[A-Za-z][\w./:,=-]*: *\r?$`)
	return []textMarker{
		{evidence.KindGCTrace, "gc ", regexp.MustCompile(`gc \d+ @\d`)},
		{evidence.KindBench, "Benchmark", regexp.MustCompile(`^Benchmark\S*\s+\d+\s+[0-9.e+-]+\s+\S`)},
		{evidence.KindBench, "ns/op", regexp.MustCompile(`\d\s+[0-9.e+-]+ ns/op`)},
		{evidence.KindMetrics, `"t_ns"`, regexp.MustCompile(`^\{.*"v"\s*:\s*\{`)},
		{evidence.KindMemStats, "# runtime.MemStats", regexp.MustCompile(`^# runtime\.MemStats\r?$`)},
		{evidence.KindPerf, "clock", perfSample},
		{evidence.KindPerf, "cycles", perfSample},
		{evidence.KindPerf, "fault", perfSample},
		{evidence.KindEscapes, ".go:", regexp.MustCompile(`\.go:\d+:\d+: .*(escapes to heap|does not escape|moved to heap|leaking param|leaks to|can inline |inlining call to )`)},
	}
}

var gctraceProcs = regexp.MustCompile(` (\d+) P( \(forced\))?\r?$`)

// sniffText looks for lines of each kind of text. A program's own output of any length
// may come first.
func (s *sniffed) sniffText() error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	markers := textMarkers()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		for _, m := range markers {
			// One matching line is enough; -m=2 output may have a million.
			if !slices.Contains(s.kinds, m.kind) && bytes.Contains(line, []byte(m.word)) &&
				m.pattern.Match(bytes.TrimSuffix(line, []byte("\n"))) {
				s.found(m.kind, line)
			}
		}
		s.heading(line)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("read %s: %w", s.path, err)
		}
	}
}

func (s *sniffed) found(kind evidence.Kind, line []byte) {
	if kind == evidence.KindGCTrace {
		if m := gctraceProcs.FindSubmatch(bytes.TrimSuffix(line, []byte("\n"))); m != nil {
			s.facts.procs, _ = strconv.Atoi(string(m[1])) // too many digits give 0, unknown
		}
	}
	s.kinds = append(s.kinds, kind)
}

// heading stores the headings of a benchmark text.
func (s *sniffed) heading(line []byte) {
	if len(line) > 200 || len(line) == 0 || line[0] != 'g' && line[0] != 'c' {
		return
	}
	key, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimSpace(value)
	switch key {
	case "goos":
		s.facts.goos = value
	case "goarch":
		s.facts.goarch = value
	case "cpu":
		s.facts.cpu = value
	}
}
