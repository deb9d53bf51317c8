package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBundleModules(t *testing.T) {
	files := fstest.MapFS{
		"main.js": {Data: []byte("import { twice } from \"./math.js\";\nimport { Box, name } from \"./box.js\";\nexport const result = twice(name);\n")},
		"math.js": {Data: []byte("export function twice(x) {\n  return x + x;\n}\n")},
		"box.js":  {Data: []byte("import { twice } from \"./math.js\";\nexport class Box {}\nexport const name = twice(\"a\");\nconst own = 1;\n")},
	}
	script, err := bundleModules(files, "main.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"return { twice };", "return { Box, name };", "const { Box, name } = module2;", "return { result };", "\"use strict\";"} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in:\n%s", want, script)
		}
	}
	if n := strings.Count(script, "function twice"); n != 1 {
		t.Errorf("a module that two import is there %d times, want once", n)
	}
	if left := regexp.MustCompile(`(?m)^\s*(import|export)\b.*`).FindString(script); left != "" {
		t.Errorf("not rewritten: %q", left)
	}
}

func TestBundleModulesErrors(t *testing.T) {
	f := func(want string, texts ...string) {
		t.Helper()
		files := fstest.MapFS{}
		for i, text := range texts {
			files[string(rune('a'+i))+".js"] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := bundleModules(files, "a.js")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("bundle of %q: %v, want %q", texts, err, want)
		}
	}
	f("b.js imports itself through others", `import { x } from "./b.js";`, `import { x } from "./b.js";`)
	f("a.js:1:", `import x from "./b.js";`, "")
	f("a.js:2:", "const x = 1;\nexport default x;")
	f("a.js:1:", `export { x };`)
	f("a.js:1: open nowhere.js", `import { x } from "./nowhere.js";`)
	if _, err := bundleModules(fstest.MapFS{}, "a.js"); err == nil {
		t.Error("no error for a missing entry")
	}
}

// TestPageModules holds the page's own code to what it promises: it parses
// nothing as HTML, runs no text as code, and asks for nothing.
func TestPageModules(t *testing.T) {
	modules, err := Modules()
	if err != nil || len(modules) < 10 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|setAttribute\("style"|\.cssText|fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|\bimport\(|https?://`)
	// A served page asks its own server for the version and for what it leaves out;
	// the namespace of SVG is a name, which nobody opens.
	allowed := map[string]string{"fresh.js": `fetch("version.json"`, "rest.js": `fetch(address,`, "graph_svg.js": `"http://www.w3.org/2000/svg"`}
	for _, m := range modules {
		for i, line := range strings.Split(m.Text, "\n") {
			if ok := allowed[m.Name]; ok != "" && strings.Count(m.Text, ok) == 1 {
				line = strings.Replace(line, ok, "", 1)
			}
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", m.Name, i+1, found)
			}
		}
	}
	bundled, err := fs.Sub(source, "page")
	if err != nil {
		t.Fatal(err)
	}
	script, err := bundleModules(bundled, "main.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if !strings.Contains(script, "// "+m.Name+"\n") {
			t.Errorf("%s is part of no page", m.Name)
		}
	}
	for _, name := range styles {
		text, err := source.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`@import|url\(`).Find(text); found != nil {
			t.Errorf("%s: %s", name, found)
		}
	}
}
