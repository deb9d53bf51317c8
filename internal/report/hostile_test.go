package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/reporttest"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// poison puts text into every string that v reaches.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[time.Time]() {
				poison(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	}
}

// spoil puts x into every floating-point number that v reaches.
func spoil(v reflect.Value, x float64) {
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(x)
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i), x)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), x)
		}
	}
}

func poisoned(text string) *finding.Report {
	rep := fixture()
	poison(reflect.ValueOf(rep), text)
	return rep
}

// TestHostileNames: whatever names say, only printable text reaches the output,
// and no line of the terminal's formats is too wide.
func TestHostileNames(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		rep := poisoned(name)
		for _, f := range formats {
			if strings.HasPrefix(f.golden, "color") {
				continue
			}
			var out bytes.Buffer
			if err := f.write(&out, rep); err != nil {
				t.Errorf("%s of %.20q: %v", f.golden, name, err)
			}
			for _, r := range out.String() {
				if r != '\n' && (!unicode.IsPrint(r) || r == utf8.RuneError && f.golden != "report.json" &&
					f.golden != "report.sarif") {
					t.Errorf("%s of %.20q lets %U through", f.golden, name, r)
					break
				}
			}
		}
	}
}

// TestHostileNamesInColor: the only escape sequences are our own.
func TestHostileNamesInColor(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		var color bytes.Buffer
		rep := poisoned(name)
		if err := Text(&color, rep, TextOptions{Color: true}); err != nil {
			t.Fatal(err)
		}
		if err := Explain(&color, rep, 1, ExplainOptions{Color: true, Source: fixtureSource}); err != nil {
			t.Fatal(err)
		}
		text := color.String()
		for _, s := range []term.Style{term.Bold, term.Dim, term.Red, term.Green, term.Yellow, term.Blue, term.Magenta,
			term.Cyan, term.Gray, "0", term.Bold + ";" + term.Red, term.Bold + ";" + term.Yellow, term.Bold + ";" +
				term.Green, term.Bold + ";" + term.Cyan} {
			text = strings.ReplaceAll(text, "\x1b["+string(s)+"m", "")
		}
		if i := strings.IndexByte(text, '\x1b'); i >= 0 {
			t.Errorf("%.20q: foreign escape sequence %.20q", name, text[i:])
		}
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	reports := []*finding.Report{fixture(), empty()}
	for _, name := range reporttest.HostileNames {
		reports = append(reports, poisoned(name))
	}
	for width := term.MinWidth; width <= 200; width += 7 {
		for i, rep := range reports {
			var out bytes.Buffer
			if err := textAt(width)(&out, rep); err != nil {
				t.Fatal(err)
			}
			if len(rep.Prescription.Rows) > 0 {
				if err := explainAt(width)(&out, rep); err != nil {
					t.Fatal(err)
				}
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := term.Cells(line); n > width {
					t.Errorf("report %d at width %d: line of %d cells: %s", i, width, n, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("report %d at width %d: trailing space: %q", i, width, line)
				}
			}
		}
	}
}

// TestUselessNumbers: no number breaks a format, and none that is not finite is
// printed.
func TestUselessNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0, -1,
		5e-324} {
		rep := fixture()
		spoil(reflect.ValueOf(rep), x)
		for _, f := range formats {
			var out bytes.Buffer
			if err := f.write(&out, rep); err != nil {
				t.Errorf("%s with %v: %v", f.golden, x, err)
			}
			for _, bad := range []string{"NaN", "Inf"} {
				if strings.Contains(out.String(), bad) {
					i := strings.Index(out.String(), bad)
					t.Errorf("%s with %v prints %s: %s", f.golden, x, bad, out.String()[max(0, i-30):i+3])
				}
			}
		}
	}
}

func TestEmptyDiagnosis(t *testing.T) {
	for _, f := range formats {
		err := f.write(io.Discard, empty())
		if strings.HasPrefix(f.golden, "explain") {
			if want := "there is no finding 1: the report has none"; err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", f.golden, err, want)
			}
		} else if err != nil {
			t.Errorf("%s: %v", f.golden, err)
		}
	}
}

func TestCSVHoldsNoFormula(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		var out bytes.Buffer
		rep := poisoned(name)
		if err := CSV(&out, rep); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatalf("%.20q: %v", name, err)
		}
		for _, row := range rows[1:] {
			for i, cell := range row {
				trimmed := strings.TrimLeft(cell, " ")
				if trimmed == "" || !strings.ContainsAny(trimmed[:1], "=+-@|%") {
					continue
				}
				var v float64
				if _, err := fmt.Sscan(cell, &v); err != nil || rows[0][i] == "function" {
					t.Errorf("%.20q: column %s starts a formula: %.30q", name, rows[0][i], cell)
				}
			}
		}
	}
}

func TestMarkdownTableSurvives(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		var out bytes.Buffer
		rep := poisoned(name)
		if err := Markdown(&out, rep); err != nil {
			t.Fatal(err)
		}
		bars := 0
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "|") {
				bars = 0
				continue
			}
			if n := strings.Count(line, "|"); bars == 0 {
				bars = n
			} else if n != bars {
				t.Errorf("%.20q: %d cells, want %d: %.100s", name, n-1, bars-1, line)
			}
		}
		for _, bad := range []string{"<script", "](http", "@team"} {
			if outside := outsideCode(out.String()); strings.Contains(outside, bad) {
				t.Errorf("%.20q: %q gets through", name, bad)
			}
		}
	}
}

// outsideCode drops the code spans of Markdown whose names hold no backquote.
func outsideCode(s string) string {
	var out strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

// TestJSONKeepsNames: names are data there, so they come back as they were.
func TestJSONKeepsNames(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		var out bytes.Buffer
		rep := poisoned(name)
		if err := JSON(&out, rep, schema.Meta{}); err != nil {
			t.Fatal(err)
		}
		var doc schema.Report
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%.20q: %v", name, err)
		}
		if got, want := doc.Findings[0].Site.Function, strings.ToValidUTF8(name, "\ufffd"); utf8.ValidString(name) &&
			got != want {
			t.Errorf("function is %.30q, want %.30q", got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range reporttest.HostileNames {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := term.Clean(s)
		if again := term.Clean(got); again != got {
			t.Errorf("clean(%q) = %q, and cleaned again %q", s, got, again)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("clean(%q) lets %U through", s, r)
			}
		}
		for _, n := range []int{0, 1, 2, 7, 40} {
			if c := term.Cells(term.ElideMiddle(got, n)); c > max(n, 1) {
				t.Errorf("elideMiddle(%q, %d) has %d cells", got, n, c)
			}
			if c := term.Cells(term.ElideEnd(got, n)); c > max(n, 1) {
				t.Errorf("elideEnd(%q, %d) has %d cells", got, n, c)
			}
		}
	})
}
