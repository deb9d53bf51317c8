package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/schema"
)

// hostile are names that try to leave the place they are shown at.
var hostile = []string{
	`</script><script>alert(1)</script>`, `"><img␠src=x␠onerror=alert(1)>`, `<!--`, `]]>`, `'+alert(1)+'`, "\u2028alert(1)", `&lt;b&gt;`, `{{.}}`, "a\u202eb", `javascript:alert(1)`,
}

func hostileStacks() (cpu, heap []stack) {
	for i, name := range hostile {
		frames := "example.com/m/x." + name + "@" + strings.ReplaceAll(name, ":", "") + ".go:7 main.main@main.go:3"
		cpu = append(cpu, stack{"runtime.mallocgc " + frames, []int64{10, int64(10+i) * 10 * ms}})
		heap = append(heap, stack{frames, []int64{100, 10_000, 1, 100}})
	}
	return cpu, heap
}

// TestHostileNames: no name of a recording ends the element that the data
// stand in, or adds one to the page.
func TestHostileNames(t *testing.T) {
	cpu, heap := hostileStacks()
	data, _, err := Data(record(t, cpu, heap, 10), Options{Report: &schema.Report{Tool: "</script><b>"}})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(data, "<>&") {
		t.Fatal("the data are not escaped")
	}
	if !json.Valid(data) {
		t.Fatal("the data are no JSON")
	}
	var b bytes.Buffer
	if err := Page(&b, `heaptrim: </title><script>alert(1)</script>"`, data); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	head, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	inside, rest, _ := strings.Cut(rest, "</script>")
	if inside != string(data) {
		t.Error("the data do not end where their element ends")
	}
	if n := strings.Count(strings.ToLower(head), "<script"); n != 0 {
		t.Errorf("%d scripts before the data, want none", n)
	}
	if !strings.HasPrefix(rest, "\n<script>") {
		t.Errorf("after the data comes %q, want the script", rest[:20])
	}
	if err := Page(&b, "x", []byte(`{"a":"</script>"}`)); err == nil {
		t.Error("data that are not escaped were written")
	}
}

// TestPolicy: the page's own policy names its script and its style by their
// hashes and allows nothing else, and the page asks for nothing.
func TestPolicy(t *testing.T) {
	var b bytes.Buffer
	if err := Page(&b, "title", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	part := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no %s in the page", pattern)
		}
		return m[1]
	}
	policy := html.UnescapeString(part(`http-equiv="Content-Security-Policy" content="([^"]*)"`))
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	for _, want := range []string{"default-src 'none'", "script-src " + hash(part(`(?s)<script>(.*?)</script>`)), "style-src " + hash(part(`(?s)<style>(.*?)</style>`)), "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	for _, never := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(policy, never) {
			t.Errorf("the policy %q holds %q", policy, never)
		}
	}
	if found := regexp.MustCompile(`(?i)<(?:link|img|script|iframe|object|embed|source)[^>]*\b(?:src|href)="[^d]`).FindString(page); found != "" {
		t.Errorf("the page asks for something: %s", found)
	}
}
