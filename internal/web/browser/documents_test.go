package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestDocuments: what heaptrim writes as JSON is valid by the schemas in doc/format, for a
// validator that is not ours.
func TestDocuments(t *testing.T) {
	run := tool(t)
	service, files := bundleOf(t, "service"), bundleOf(t, "files")
	dir := t.TempDir()
	cpu := filepath.Join(filepath.Dir(files), "cpu.pprof")
	run("record", "-o", filepath.Join(dir, "recording"), cpu)
	manifest, err := os.ReadFile(filepath.Join(dir, "recording", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(root(t), "internal", "ingest", "gctrace", "testdata", "go1.26.8.txt")
	page := filepath.Join(dir, "page.html")
	for name, docs := range map[string][]string{
		"report":  {run("check", "-html", page, "-json", "-", service), run("check", "-html", page, "-json", "-", files)},
		"trace":   {run("trace", "-json", "-", service)},
		"gctrace": {run("gctrace", "-json", "-", log)},
		"tune":    {run("tune", "-json", "-", service)},
		"bundle":  {string(manifest)},
		"prove":   {run("prove", "-a", "work", "-b", "env:GOGC=400", "-bench", "UserCached", "-budget", "1s", "-json", "-", "./examples/gateway")},
	} {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join(root(t), "doc", "format", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(doc)))
			if err == nil {
				err = s.Validate(v)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s.Validate(map[string]any{"schema": "another"}) == nil {
			t.Errorf("%s: any object is valid", name)
		}
	}
}
