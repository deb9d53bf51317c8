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

// TestURLs holds that the URL of each analyser leads to the rule's heading in a file of the repository.
func TestURLs(t *testing.T) {
	for _, r := range analyzers.Rules() {
		page, anchor, _ := strings.Cut(r.Analyzer.URL, "#")
		name, ok := strings.CutPrefix(page, "https://github.com/heaptrim/heaptrim/blob/main/")
		if !ok || anchor != r.Code {
			t.Errorf("%s: URL %q", r.Code, r.Analyzer.URL)
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "\n### "+anchor+"\n") {
			t.Errorf("%s has no heading %q", name, anchor)
		}
	}
}

func rulesText() string {
	var b strings.Builder
	for _, r := range analyzers.Rules() {
		fmt.Fprintf(&b, "\n### %s\n\nAnalyser `%s`: "+
			"%s.\n\n%s\n\nBefore:\n\n```go\n%s\n```\n\nAfter:\n\n```go\n%s\n```\n\nSilent when %s\n",
			r.Code, r.Analyzer.Name, r.Title, r.Why, r.Before, r.After, r.Silent)
	}
	return b.String() + "\n"
}
