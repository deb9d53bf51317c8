package written

import "testing"

const turns = `package m

import (
	"bytes"
	"strings"
)

type request struct {
	url  string
	body []byte
}

func fill(r *request, values map[string]string) {
	for k, v := range values {
		r.url = strings.Replace(r.url, "{"+k+"}", v, -1)  // r.url
		r.url = strings.ReplaceAll(r.url, "{"+k+"}", v)   // r.url
		r.body = bytes.ReplaceAll(r.body, []byte(k), nil) // r.body
		s := strings.ReplaceAll(r.url, k, v)              // -
		s = strings.ReplaceAll(s, k, v)                   // -
		each := func() {
			r.url = strings.ReplaceAll(r.url, k, v) // -
		}
		each()
	}
	r.url = strings.ReplaceAll(r.url, "%", "") // -
	for strings.Contains(r.url, "//") {
		r.url = strings.ReplaceAll(r.url, "//", "/") // -
	}
}

func lines(all []string) {
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "\\t", " ") // -
	}
	for _, s := range all {
		s = strings.Replace(s, "a", "b", 1) // -
		print(s)
	}
}
`

// TestReplacedInTurns: texts of which each turn of a loop makes the next copy.
func TestReplacedInTurns(t *testing.T) { holds(t, turns, replacedInTurns) }
