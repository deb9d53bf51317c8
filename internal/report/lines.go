package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Lines writes one line a finding in rank order, as go vet does: "file:line:col: [code] what
// to do (what that saves)". The column is there only if the compiler gave one for that line.
// Lines are not cut.
func Lines(w io.Writer, rep *finding.Report) error {
	b := bufio.NewWriter(w)
	k := knownOf(rep)
	for _, f := range rep.Prescription.Rows {
		at := place(f.Site)
		if r := f.Escape; r != nil && r.From != nil && r.From.Col > 0 && r.At.Line == f.Site.Line &&
			r.At.File == f.Site.File {
			at += fmt.Sprintf(":%d", r.From.Col)
		}
		fmt.Fprintf(b, "%s: %s (%s)\n", term.Clean(at), term.Clean(whatToDo(f)+besideRemark(f)), lineFigure(f, k))
	}
	return b.Flush()
}

// lineFigure is what a finding's cure saves; without a cure, what it costs.
func lineFigure(f finding.Row, k known) string {
	if saved := savedText(f.Remedy.Saves, k); saved != "" && cured(f) {
		return "saves " + saved
	}
	return "costs " + lineCost(f, k)
}

// lineCost is the cost of a finding in a few words.
func lineCost(f finding.Row, k known) string {
	var parts []string
	if k.cpu {
		parts = append(parts, term.SharePercent(f.Cost.Share())+" of CPU")
	}
	bytes, objects := k.amounts(f.Cost)
	if measured(bytes) {
		parts = append(parts, unit.FormatBytes(bytes.Value)+k.per())
	}
	if measured(objects) {
		parts = append(parts, unit.FormatScaled(objects.Value)+term.Plural(objects.Value, " object")+k.per())
	}
	if len(parts) == 0 {
		return "not known"
	}
	return strings.Join(parts, ", ")
}
