package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/report/term"
)

// aroundSite is how many lines are shown before and after a site's.
const aroundSite = 4

// source shows the lines around the site, its own marked.
func (e *explainer) source(read func(string) ([]byte, error)) {
	s := e.f.Site
	if s.File == "" || s.Line <= 0 {
		return
	}
	e.p.Section("Source", s.File)
	if read == nil {
		e.p.Prose("  ", "not known: needs the module's sources", term.Normal)
		return
	}
	data, err := read(s.File)
	if err != nil {
		e.p.Prose("  ", "not known: needs the module's sources: "+err.Error(), term.Normal)
		return
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(data) == 0 {
		lines = nil
	}
	if s.Line > len(lines) {
		e.p.Prose(
			"  ",
			fmt.Sprintf(
				"The file has %d%s, the recording says line %d: it has changed since.", len(lines),
				term.Plural(float64(len(lines)), " line"), s.Line,
			),
			term.Yellow,
		)
		return
	}
	first, last := max(s.Line-aroundSite, 1), min(s.Line+aroundSite, len(lines))
	wide := len(fmt.Sprint(last))
	for n := first; n <= last; n++ {
		text := strings.TrimRight(strings.ReplaceAll(string(lines[n-1]), "\t", "    "), " \r")
		number := term.PadLeft(fmt.Sprint(n), wide)
		if n == s.Line {
			e.p.Line(term.Styled("▶ "+number+" │ ", term.Bold+";"+term.Red), term.Styled(text, term.Bold))
			continue
		}
		e.p.Line(term.Styled("  "+number+" │ ", term.Dim), term.Styled(text, term.Normal))
	}
}
