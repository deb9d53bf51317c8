package bundle

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func specification(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "doc", "format", "bundle.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kindConstants reads the Kind constants from the source that declares them.
func kindConstants(t *testing.T) []evidence.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "evidence", "manifest.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []evidence.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, evidence.Kind(value))
		}
		return true
	})
	return found
}

func TestEveryKindIsDocumented(t *testing.T) {
	doc := specification(t)
	all := kindConstants(t)
	if len(all) < 11 {
		t.Fatalf("found only %d Kind constants", len(all))
	}
	for _, k := range all {
		if !slices.Contains(kinds(), k) {
			t.Errorf("kinds() lacks %q", k)
		}
		if !strings.Contains(doc, "| `"+string(k)+"` |") {
			t.Errorf("the format's page has no row for the kind %q", k)
		}
	}
	if len(kinds()) != len(all) {
		t.Errorf("kinds() has %d kinds, evidence %d", len(kinds()), len(all))
	}
}

// section returns the text of the page from a heading to the next one.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("the format's page has no heading %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n#")
	return text
}

func TestEveryFieldIsDocumented(t *testing.T) {
	doc := specification(t)
	f := func(heading string, typ reflect.Type) {
		t.Helper()
		text := section(t, doc, heading)
		for _, field := range reflect.VisibleFields(typ) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				t.Errorf("%s.%s has no name in JSON", typ, field.Name)
			} else if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("section %q does not describe the field %q", heading, name)
			}
		}
	}
	f("## The manifest", reflect.TypeFor[evidence.Manifest]())
	f("### target", reflect.TypeFor[evidence.Target]())
	f("### environment", reflect.TypeFor[evidence.Environment]())
	f("### runs", reflect.TypeFor[evidence.Run]())
	f("### runs", reflect.TypeFor[evidence.Loop]())
	f("### parts", reflect.TypeFor[evidence.Part]())
}

func TestDocumentedFacts(t *testing.T) {
	doc := specification(t)
	limits := defaultLimits()
	for _, want := range []string{
		"version `" + evidence.ManifestSchema + "`", limits.Total.String(), limits.File.String(), limits.Window.String(),
		strconv.Itoa(limits.Entries) + " entries", "at most " + strconv.Itoa(maxManifest>>20) + " MiB", "`" + unfinished + "`",
		"`" + evidence.TargetPackages + "`", "`" + evidence.TargetExec + "`", "`" + evidence.TargetLive + "`", "`" + evidence.TargetFiles + "`",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("the format's page does not say %q", want)
		}
	}
}

// TestDocumentedManifest opens the page's example for foreign tools.
func TestDocumentedManifest(t *testing.T) {
	_, rest, _ := strings.Cut(specification(t), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the format's page has no example")
	}
	strict := json.NewDecoder(bytes.NewReader([]byte(example)))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(evidence.Manifest)); err != nil {
		t.Errorf("the example: %v", err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{ManifestName: example, "cpu.pprof": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p := b.Problems(); len(p) != 0 || len(b.Manifest.Runs) != 1 {
		t.Errorf("problems of the example: %q", p)
	}
}
