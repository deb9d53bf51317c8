package analyzers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/analyzers"
)

var update = flag.Bool("update", false, "rewrite the list of rules in doc/analyzers.md")

// TestDoc holds that the rules in doc/analyzers.md are those of the code.
func TestDoc(t *testing.T) {
	const begin, end = "<!-- rules: begin (go test ./analyzers -run TestDoc -update) -->\n", "<!-- rules: end -->\n"
	name := filepath.Join("..", "doc", "analyzers.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, okBegin := strings.Cut(string(data), begin)
	got, tail, okEnd := strings.Cut(rest, end)
	if !okBegin || !okEnd {
		t.Fatalf("%s has no place for the rules", name)
	}
	want := rulesText()
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("%s tells of other rules than the code: run go test ./analyzers -run TestDoc -update", name)
	}
	if err := os.WriteFile(name, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rulesText() string {
	var b strings.Builder
	for _, r := range analyzers.Rules() {
		fmt.Fprintf(&b, "\n### %s\n\nAnalyser `%s`: %s.\n\n%s\n\nBefore:\n\n```go\n%s\n```\n\nAfter:\n\n```go\n%s\n```\n\nSilent when %s\n",
			r.Code, r.Analyzer.Name, r.Title, r.Why, r.Before, r.After, r.Silent)
	}
	return b.String() + "\n"
}
