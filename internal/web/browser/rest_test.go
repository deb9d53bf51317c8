package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/objdump"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/web"
)

// TestRest opens a page that has room for hardly any source and machine code:
// served, it fetches what is chosen; alone, it says what it leaves out and asks
// for nothing.
func TestRest(t *testing.T) {
	browserPath(t)
	r, err := bundle.Open(bundleOf(t, "benchmarks"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := diagnose.Open(context.Background(), r, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	o := web.Options{Report: emptyReport(t), MaxSource: 1, MaxCode: 1, Version: "v1", Code: keptCode(r), Source: func(file string) ([]byte, error) {
		asked = append(asked, file)
		return os.ReadFile(filepath.Join(root(t), file))
	}}
	data, rest, err := web.Data(d, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := web.NewServer(web.ServerOptions{Title: "rest", Data: data, Report: []byte(`{}`), Version: o.Version, Rest: rest})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	b := newTab(t, desktop)
	defer b.do(chromedp.Navigate("about:blank")) // before its server goes
	name, file, line := ownFunction(t, data)
	b.open(server.URL + "/#view=source&weight=alloc_space&fn=" + url.QueryEscape(name) + "&file=" + url.QueryEscape(file))
	row := ".listing.lines tr[data-line='" + strconv.Itoa(line) + "'] .text"
	b.wait("(document.querySelector(%s) || { innerText: '' }).innerText.trim()", quote(row))
	text, err := os.ReadFile(filepath.Join(root(t), file))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(strings.Split(string(text), "\n")[line-1])
	if got := b.text(row); strings.TrimSpace(got) != want {
		t.Errorf("line %d of %s is shown as %q, want %q", line, file, got, want)
	}
	b.open(server.URL + "/#view=code&weight=alloc_space&fn=" + url.QueryEscape(name))
	b.wait("document.querySelector('.machine tr[data-at] .text')")
	if got := b.text(".machine"); !strings.Contains(got, "CALL") || !strings.Contains(got, "RET") {
		t.Errorf("the machine code of %s is shown as %.200q", name, got)
	}
	for _, a := range b.asked() {
		if !strings.HasPrefix(a, server.URL) && !strings.HasPrefix(a, "data:") && a != "about:blank" {
			t.Errorf("the page asked for %s", a)
		}
	}
	if !slices.Contains(asked, file) {
		t.Errorf("read %q, want %s among them", asked, file)
	}
	checkAlone(t, d, o, name)
}

// ownFunction is the function of the example that allocates most itself, of those
// with machine code, and the line where it does.
func ownFunction(t *testing.T, text []byte) (name, file string, line int) {
	t.Helper()
	var d data
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	hasCode := map[string]bool{}
	for _, f := range d.Views.Code.Functions {
		hasCode[f.Name] = true
	}
	v := d.Views.Flame
	most := 0.0
	for _, c := range v.Weights {
		if c.Name != "alloc_space" {
			continue
		}
		at := 0
		for i, step := range c.At {
			at += step
			frame := v.Frame[at]
			of, in := v.Functions.Name[v.Frames.Function[frame]], v.Files[v.Frames.File[frame]]
			if c.V[i] > most && hasCode[of] && strings.HasPrefix(in, "examples/gateway/") {
				most, name, file, line = c.V[i], of, in, v.Frames.Line[frame]
			}
		}
	}
	if most == 0 {
		t.Fatal("no function of the example allocates anything itself")
	}
	return name, file, line
}

// filePage writes the page of a diagnosis to a file.
func filePage(t *testing.T, d *diagnose.Session, o web.Options) page {
	t.Helper()
	data, _, err := web.Data(d, o)
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := web.Page(&html, t.Name(), data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return readPage(t, path)
}

// checkAlone opens the same page as a file.
func checkAlone(t *testing.T, d *diagnose.Session, o web.Options, name string) {
	t.Helper()
	o.Version = ""
	p := filePage(t, d, o)
	b := newTab(t, desktop)
	b.open(p.url + "#view=code&weight=alloc_space&fn=" + url.QueryEscape(name))
	b.wait("document.querySelector('.machine tr[data-at]')")
	if got := b.text(".code-view"); !strings.Contains(got, "heaptrim view shows their instructions") || p.data.Views.Code.Left == 0 {
		t.Errorf("of %d functions without machine code the page says %.300q", p.data.Views.Code.Left, got)
	}
	b.open(p.url + "#view=source&weight=alloc_space&fn=" + url.QueryEscape(name))
	b.wait("document.querySelector('.listing.lines tr[data-line] td[data-column=total]')")
	if got := b.text(".source-view"); !strings.Contains(got, "heaptrim view shows them") || p.data.Views.SourceCut == 0 {
		t.Errorf("of %d functions without source the page says %.300q", p.data.Views.SourceCut, got)
	}
	for _, a := range b.asked() {
		if !strings.HasPrefix(a, p.url) && !strings.HasPrefix(a, "data:") && a != "about:blank" {
			t.Errorf("the page asked for %s", a)
		}
	}
}

// emptyReport is a report without findings.
func emptyReport(t *testing.T) *schema.Report {
	t.Helper()
	return editedReport(t, func(report *schema.Report) { report.Findings = []schema.Finding{} })
}

// editedReport is the report of the recorded benchmarks after an edit.
func editedReport(t *testing.T, edit func(report *schema.Report)) *schema.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	tool(t)("check", "-verify", "0", "-json", file, "-html", "", bundleOf(t, "benchmarks"))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report, err := schema.Read[schema.Report](text, schema.ReportVersion)
	if err != nil {
		t.Fatal(err)
	}
	edit(report)
	return report
}

// TestRemainder: the unattributed cost of the collector has a figure, and an excess of the
// lines' charges has one of its own if it is more than its error.
func TestRemainder(t *testing.T) {
	browserPath(t)
	r, err := bundle.Open(bundleOf(t, "benchmarks"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := diagnose.Open(context.Background(), r, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := func(value, low, high float64, want string) {
		t.Helper()
		report := editedReport(t, func(report *schema.Report) {
			report.Totals.Remainder = &schema.Interval{Value: value, Low: low, High: high}
		})
		b := newTab(t, desktop)
		b.open(filePage(t, d, web.Options{Report: report}).url + "#view=overview")
		b.wait("document.querySelector('.figures')")
		if got := strings.Join(strings.Fields(b.text(".figures .figure:last-child")), " "); got != want {
			t.Errorf("a remainder of %v from %v to %v: %q, want %q", value, low, high, got, want)
		}
	}
	f(0.021, 0.019, 0.023, "Unattributed 2.1 % ±0.2 of CPU")
	f(-0.021, -0.023, -0.019, "Charged in excess 2.1 % ±0.2 of CPU")
	f(-0.021, -0.043, 0.001, "Unattributed -2.1 % ±2.2 of CPU")
}

// keptCode reads the machine code that a recording holds.
func keptCode(r *bundle.Bundle) func(web.Binary, []string) ([]evidence.Code, error) {
	return func(web.Binary, []string) ([]evidence.Code, error) {
		var out []evidence.Code
		for _, run := range r.Manifest.Runs {
			for _, part := range run.Parts {
				if part.Kind != evidence.KindCode {
					continue
				}
				f, err := os.Open(r.Path(part))
				if err != nil {
					return nil, err
				}
				err = objdump.Read(part.Path, f, func(c evidence.Code) error {
					out = append(out, c)
					return nil
				})
				if err := errors.Join(err, f.Close()); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
}
