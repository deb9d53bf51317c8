// Package web makes the page: one HTML file that shows a diagnosis without a
// network, and the same page served from the loopback interface. What the page
// shows is one JSON value – the report as the JSON format has it, and the views
// that this package builds from the recording beside it.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed page
var source embed.FS

// styles are the style sheets in the order they apply.
var styles = []string{"page/vendor/uPlot.min.css", "page/base.css", "page/views.css"}

// Page writes the page with its data, as [Data] gives it, as one HTML file. The
// file asks for nothing else: its policy forbids every request and every script
// and style but its own, which it names by their hashes. All text of the data
// stays data: title is escaped here, and the page's code writes text only.
func Page(w io.Writer, title string, data []byte) error {
	p, err := newPage(title, "")
	if err != nil {
		return err
	}
	return p.write(w, data)
}

// page is the page without its data.
type page struct {
	title  string
	style  string
	script string
	policy string
}

// newPage puts the page together; also is what its policy allows beyond that of
// a page that stands alone.
func newPage(title, also string) (page, error) {
	p := page{title: title}
	for _, name := range styles {
		text, err := source.ReadFile(name)
		if err != nil {
			return page{}, err
		}
		p.style += string(bytes.TrimSpace(text)) + "\n"
	}
	uplot, err := source.ReadFile("page/vendor/uPlot.min.js")
	if err != nil {
		return page{}, err
	}
	root, err := fs.Sub(source, "page")
	if err != nil {
		return page{}, err
	}
	modules, err := bundleModules(root, "main.js")
	if err != nil {
		return page{}, err
	}
	p.script = "\n" + string(bytes.TrimSpace(uplot)) + "\n" + modules
	p.policy = policyOf(p.script, p.style) + also
	return p, nil
}

// policyOf allows one script and one style sheet by their content, and
// pictures that the page itself makes.
func policyOf(script, style string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return strings.Join([]string{
		"default-src 'none'", "script-src " + hash(script), "style-src " + hash(style),
		"img-src data:", "base-uri 'none'", "form-action 'none'",
	}, "; ")
}

// write writes the page with its data.
func (p page) write(w io.Writer, data []byte) error {
	if bytes.ContainsAny(data, "<>&") {
		// A text of the recording could end the element that the data stand in.
		return fmt.Errorf("write the page: its data is not escaped for HTML")
	}
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	fmt.Fprintf(&b, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", html.EscapeString(p.policy))
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>%s</style>\n</head>\n<body>\n", html.EscapeString(p.title), p.style)
	b.WriteString("<div id=\"app\"><noscript>This report is drawn by the script inside this file. Allow it to run, or read the text that heaptrim check prints.</noscript></div>\n")
	b.WriteString("<script type=\"application/json\" id=\"data\">")
	b.Write(data)
	fmt.Fprintf(&b, "</script>\n<script>%s</script>\n</body>\n</html>\n", p.script)
	_, err := w.Write(b.Bytes())
	return err
}

// Module is one file of the page's code.
type Module struct {
	Name string // such as flame_tree.js
	Text string
}

// Modules returns the page's own modules, those of others left out, sorted by
// name; tests of the page's logic load them one by one.
func Modules() ([]Module, error) {
	var out []Module
	err := fs.WalkDir(source, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" || strings.Contains(name, "/vendor/") {
			return err
		}
		text, err := source.ReadFile(name)
		out = append(out, Module{strings.TrimPrefix(name, "page/"), string(text)})
		return err
	})
	slices.SortFunc(out, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}
