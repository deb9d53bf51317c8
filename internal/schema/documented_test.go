package schema

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestKeysAreDocumented: every key of a document is on its page in doc/format,
// which names the document's version. The pages of the report and of a comparison
// list keys by path; the packages that write these documents test them.
func TestKeysAreDocumented(t *testing.T) {
	f := func(page, version string, document reflect.Type) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "doc", "format", page))
		if err != nil {
			t.Fatal(err)
		}
		documented := map[string]bool{}
		for _, span := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
			for _, word := range regexp.MustCompile(`\w+`).FindAllString(span, -1) {
				documented[word] = true
			}
		}
		keys := map[string]bool{}
		keysOf(document, keys)
		if len(keys) < 10 {
			t.Errorf("%v has the keys %v, want more", document, keys)
		}
		for k := range keys {
			if !documented[k] {
				t.Errorf("doc/format/%s lacks %s", page, k)
			}
		}
		if !strings.Contains(string(text), version) {
			t.Errorf("doc/format/%s does not name %s", page, version)
		}
	}
	f("fix.md", FixVersion, reflect.TypeFor[Fix]())
	f("guard.md", GuardVersion, reflect.TypeFor[Guard]())
	f("brief.md", BriefVersion, reflect.TypeFor[Brief]())
	f("gctrace.md", GCTraceVersion, reflect.TypeFor[GCTrace]())
	f("trace.md", TraceVersion, reflect.TypeFor[TraceReport]())
	f("tune.md", TuneVersion, reflect.TypeFor[Tune]())
}

// keysOf collects the names of the keys of t and of all that it holds.
func keysOf(t reflect.Type, keys map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		keysOf(t.Elem(), keys)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key != "" && key != "-" {
				keys[key] = true
			}
			if key != "" || f.Anonymous {
				keysOf(f.Type, keys)
			}
		}
	}
}
