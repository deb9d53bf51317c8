package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// lookalikes are the beginnings of files that get mistaken for pprof protos.
var lookalikes = []struct{ prefix, what string }{
	{"heap profile:", "a heap profile in text (debug=1); fetch it without debug"},
	{"goroutine profile:", "a goroutine profile in text (debug=1); fetch it without debug"},
	{"threadcreate profile:", "a threadcreate profile in text (debug=1); fetch it without debug"},
	{"goroutine ", "a goroutine dump in text (debug=2)"},
	{"--- mutex:", "a mutex profile in text (debug=1); fetch it without debug"},
	{"--- contention:", "a block profile in text (debug=1); fetch it without debug"},
	{"--- ", "a profile in an older text format"},
	{"go 1.", "a Go execution trace"},
	{"goos:", "Go benchmark output"},
	{"Benchmark", "Go benchmark output"},
	{"gc ", "a gctrace log"},
	{"SCHED ", "a schedtrace log"},
	{"PERFILE2", "perf data"},
	{"FLR\x00", "a Java flight recording"},
	{"\x7fELF", "an ELF binary"},
	{"\x1f\x8b", "gzip data that was compressed twice"},
	{"\x28\xb5\x2f\xfd", "zstd data; decompress it first"},
	{"\xfd7zXZ", "xz data; decompress it first"},
	{"BZh", "bzip2 data; decompress it first"},
	{"PK\x03\x04", "a zip archive"},
	{"{", "JSON"},
	{"[", "JSON"},
	{"<", "HTML or XML; a server's error page, perhaps"},
}

// looksLike names what data of that beginning seems to be, or returns "".
func looksLike(head []byte) string {
	for _, l := range lookalikes {
		if bytes.HasPrefix(head, []byte(l.prefix)) {
			return l.what
		}
	}
	if printable(head) {
		first, _, _ := strings.Cut(string(head), "\n")
		return fmt.Sprintf("text, beginning with %.60q", first)
	}
	return ""
}

func printable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

// explain replaces a syntax error in a file that is something else by one
// that says so.
func explain(err error, head []byte) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if what := looksLike(head); what != "" {
		return syntaxErrorf(0, "not a pprof profile: it looks like %s", what)
	}
	return err
}
