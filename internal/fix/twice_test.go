package fix

import (
	"errors"
	"slices"
	"testing"
)

// TestWorseTwice: a benchmark that is worse in only one of two measurements does not count.
func TestWorseTwice(t *testing.T) {
	broken := errors.New("no time left")
	for _, test := range []struct {
		name  string
		runs  [][]string
		fails error // of the last run
		want  []string
		count int
	}{
		{"none", [][]string{nil}, nil, nil, 1},
		{"once", [][]string{{"a", "b"}, nil}, nil, nil, 2},
		{"one of them twice", [][]string{{"a", "b"}, {"b", "c"}}, nil, []string{"b"}, 2},
		{"the first fails", [][]string{{"a"}}, broken, nil, 1},
		{"the second fails", [][]string{{"a"}, nil}, broken, []string{"a"}, 2},
	} {
		n := 0
		got, err := worseTwice(func(first []string) ([]string, error) {
			if n > 0 && !slices.Equal(first, test.runs[0]) {
				t.Errorf("%s: the second measurement is handed %v, want %v", test.name, first, test.runs[0])
			}
			run := slices.Clone(test.runs[n])
			if n++; n == len(test.runs) {
				return run, test.fails
			}
			return run, nil
		})
		if !slices.Equal(got, test.want) || !errors.Is(err, test.fails) || n != test.count {
			t.Errorf("%s: %v, %v after %d runs, want %v, %v after %d", test.name, got, err, n, test.want, test.fails, test.count)
		}
	}
}
