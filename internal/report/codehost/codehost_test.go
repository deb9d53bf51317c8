package codehost_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/report/codehost"
)

func TestURI(t *testing.T) {
	roots := codehost.NewRoots("", "")
	f := func(file, uri string, below bool) {
		t.Helper()
		if got, in := roots.URI(file); got != uri || in != below {
			t.Errorf("%+v: URI(%q) = %q, %v, want %q, %v", roots, file, got, in, uri, below)
		}
	}
	f("a/b.go", "a/b.go", true)
	f("a b/ü.go", "a%20b/%C3%BC.go", true)
	f("a:b.go", "./a:b.go", true)
	f(`a\b.go`, "a/b.go", true)
	f("/usr/src/a b.go", "file:///usr/src/a%20b.go", false)
	f(`C:\src\a.go`, "file:///C:/src/a.go", false)
	roots = codehost.NewRoots("/r/x", "/r")
	f("a.go", "x/a.go", true)
	f("../lib/a.go", "lib/a.go", true)
	f("../../rest/a.go", "file:///rest/a.go", false)
	f("/r/gen/a.go", "gen/a.go", true)
	f("/rest/a.go", "file:///rest/a.go", false)
	roots = codehost.NewRoots("/r/x", "")
	f("a.go", "a.go", true)
	f("../a.go", "file:///r/a.go", false)
	roots = codehost.NewRoots(`C:\r\x`, `C:\r`)
	f("a.go", "x/a.go", true)
	f(`C:\r\y\a.go`, "y/a.go", true)
}

// TestLineHashes compares with values of GitHub's upload action (src/fingerprints.ts of
// github/codeql-action), which warns of others.
func TestLineHashes(t *testing.T) {
	f := func(source string, want ...string) {
		t.Helper()
		if got := codehost.LineHashes([]byte(source)); !slices.Equal(got, want) {
			t.Errorf("LineHashes(%q) = %q, want %q", source, got, want)
		}
	}
	f("", "c129715d7a2bc9a3:1")
	f(" a\nb\n  \t\tc\n d", "271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1")
	for _, line := range []string{"\n", "\r", "\r\n"} {
		f(" a"+line+"b"+line+"  \t\tc"+line+" d", codehost.LineHashes([]byte("a\nb\nc\nd"))...)
	}
	same := codehost.LineHashes([]byte(strings.Repeat("Lorem ipsum dolor sit amet.\n", 10)))
	if same[0] != "a7f2ff13bc495cf2:1" || same[5] != "a7f2ff13bc495cf2:6" || same[9] != "cc97dc7b1d7d8f7b:1" {
		t.Errorf("hashes of equal lines: %q", same)
	}
}
