package web

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// The page's modules keep to a part of the language that can be put into one
// script by rewriting whole lines: imports of names from a file beside, one a
// line, before everything else; and exports in front of a declaration.
var (
	importLine = regexp.MustCompile(`^import \{ ([\w$]+(?:, [\w$]+)*) \} from "(\./[\w.-]+\.js)";$`)
	exportLine = regexp.MustCompile(`^export ((?:async )?(?:function\*?|class|const|let) ([\w$]+))`)
	otherLine  = regexp.MustCompile(`^\s*(?:import\b|export\b)`)
)

// bundleModules puts a module and all that it imports into one strict script.
// Each module becomes a function that returns its exports and that runs once,
// after those it imports. Cyclic imports are an error.
func bundleModules(root fs.FS, entry string) (string, error) {
	b := bundler{root: root, done: map[string]string{}}
	if _, err := b.add(entry); err != nil {
		return "", err
	}
	return "(() => {\n\"use strict\";\n" + b.out.String() + "})();\n", nil
}

type bundler struct {
	root  fs.FS
	done  map[string]string // module to the variable with its exports; "" while it is being added
	added int
	out   strings.Builder
}

// add appends a module, after those it imports, and returns the variable that
// holds its exports.
func (b *bundler) add(name string) (string, error) {
	if v, ok := b.done[name]; ok {
		if v == "" {
			return "", fmt.Errorf("%s imports itself through others", name)
		}
		return v, nil
	}
	b.done[name] = ""
	text, err := fs.ReadFile(b.root, name)
	if err != nil {
		return "", err
	}
	var body strings.Builder
	var exports []string
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case importLine.MatchString(line):
			m := importLine.FindStringSubmatch(line)
			from, err := b.add(path.Join(path.Dir(name), m[2]))
			if err != nil {
				return "", fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
			fmt.Fprintf(&body, "const { %s } = %s;\n", m[1], from)
		case exportLine.MatchString(line):
			m := exportLine.FindStringSubmatch(line)
			exports = append(exports, m[2])
			body.WriteString(strings.TrimPrefix(line, "export ") + "\n")
		case otherLine.MatchString(line):
			return "", fmt.Errorf("%s:%d: %q: imports are { names } of a file beside, one a line; exports stand before a declaration", name, i+1, strings.TrimSpace(line))
		default:
			body.WriteString(line + "\n")
		}
	}
	b.added++
	v := fmt.Sprintf("module%d", b.added)
	fmt.Fprintf(&b.out, "const %s = (() => { // %s\n%s\nreturn { %s };\n})();\n", v, name, strings.TrimSpace(body.String()), strings.Join(exports, ", "))
	b.done[name] = v
	return v, nil
}
