package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

var update = flag.Bool("update", false, "rewrite the files in doc/format")

// TestJSONSchemas holds that the files in doc/format are the schemas of the Go types.
func TestJSONSchemas(t *testing.T) {
	for version, v := range map[string]any{
		ReportVersion: Report{}, GCTraceVersion: GCTrace{}, ProveVersion: Prove{}, TraceVersion: TraceReport{},
		TuneVersion: Tune{}, GuardVersion: Guard{}, FixVersion: Fix{}, BriefVersion: Brief{}, evidence.ManifestSchema: evidence.Manifest{},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(version, "heaptrim."), "/")
		got, err := jsonSchema(version, reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("..", "..", "doc", "format", name+".schema.json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not the schema of %T: go test -update rewrites it", file, v)
		}
	}
}

type object = map[string]any

// jsonSchema is the JSON Schema of a document. Keys that it does not know are allowed: within
// one version, keys are added.
func jsonSchema(version string, t reflect.Type) ([]byte, error) {
	g := generator{defs: object{}}
	root := g.structure(t)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = version
	root["properties"].(object)["schema"] = object{"const": version}
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	out, err := json.MarshalIndent(root, "", " ")
	return append(out, '\n'), err
}

// generator collects the schemas of named types.
type generator struct{ defs object }

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (g *generator) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return orNull(g.of(t.Elem()))
	case t.Implements(textMarshaler):
		return object{"type": "string"}
	case t.Implements(jsonMarshaler):
		return object{}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": g.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = object{} // for types that hold themselves
			g.defs[t.Name()] = g.structure(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	case reflect.Interface:
		return object{}
	}
	return object{"type": "integer"}
}

func orNull(s object) object {
	if of, ok := s["type"].(string); ok {
		s["type"] = []string{of, "null"}
		return s
	}
	return object{"anyOf": []object{s, {"type": "null"}}}
}

func (g *generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		tag, there := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || !there || name == "-" || name == "" {
			continue
		}
		properties[name] = g.of(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}
