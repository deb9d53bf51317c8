package code

import (
	"errors"
	"strings"
	"testing"
)

// TestFinishUnformatted: of a file that gofmt would change, only the edited lines are formatted,
// and an edit of a line that gofmt would change is refused.
func TestFinishUnformatted(t *testing.T) {
	const before = "package p\n\nvar  wide = 1\n\nfunc f() int {\n\treturn 1\n}\n\nvar  last = 2\n"
	f := func(from, to, want string, wantErr error) {
		t.Helper()
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(before, "\n", end)
			got, err := Finish([]byte(text), []byte(strings.Replace(text, from, to, 1)), nil)
			if !errors.Is(err, wantErr) {
				t.Errorf("%q to %q with ends %q: error %v, want %v", from, to, end, err, wantErr)
			}
			if want := strings.ReplaceAll(want, "\n", end); err == nil && string(got) != want {
				t.Errorf("%q to %q with ends %q: %q, want %q", from, to, end, got, want)
			}
		}
	}
	f("return 1", "return   1+ 1", "package p\n\nvar  wide = 1\n\nfunc f() int {\n\treturn 1 + 1\n}\n\nvar  last = 2\n", nil)
	f("return 1", "return 1", before, nil)
	f("wide = 1", "wide = 3", "", ErrUnformatted)
	f("last = 2", "last = 3", "", ErrUnformatted)
}
