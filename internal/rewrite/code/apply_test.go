package code

import (
	"strings"
	"testing"
)

// TestFinishUnformatted: of a file that gofmt would change, only the edited lines are formatted.
func TestFinishUnformatted(t *testing.T) {
	const before = "package p\n\nvar  wide = 1\n\nfunc f() int {\n\treturn 1\n}\n\nvar  last = 2\n"
	f := func(from, to, want string) {
		t.Helper()
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(before, "\n", end)
			got, err := Finish([]byte(text), []byte(strings.Replace(text, strings.ReplaceAll(from, "\n", end), to, 1)), nil)
			if want := strings.ReplaceAll(want, "\n", end); err != nil || string(got) != want {
				t.Errorf("%q to %q with ends %q: %q, %v, want %q", from, to, end, got, err, want)
			}
		}
	}
	f("return 1", "return   1+ 1", "package p\n\nvar  wide = 1\n\nfunc f() int {\n\treturn 1 + 1\n}\n\nvar  last = 2\n")
	f("return 1", "return 1", before)
	f("wide = 1", "wide = 3", "package p\n\nvar wide = 3\n\nfunc f() int {\n\treturn 1\n}\n\nvar  last = 2\n")
	f("last = 2", "last = 3", "package p\n\nvar  wide = 1\n\nfunc f() int {\n\treturn 1\n}\n\nvar last = 3\n")
	f("{\n\treturn 1", "{ wide++; return 1", "package p\n\nvar  wide = 1\n\nfunc f() int {\n\twide++\n\treturn 1\n}\n\nvar  last = 2\n")
}
