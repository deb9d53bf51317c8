package report

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// shortName drops the directories of a function's package path and undoes the
// escape that the linker puts into its last element:
// "gopkg.in/yaml%2ev3.(*Node).Decode" becomes "yaml.v3.(*Node).Decode".
func shortName(function string) string {
	end := len(function)
	if i := strings.IndexAny(function, "[("); i >= 0 {
		end = i
	}
	if i := strings.LastIndexByte(function[:end], '/'); i >= 0 {
		function = function[i+1:]
	}
	return strings.ReplaceAll(function, "%2e", ".")
}

// place is "file:line" of a site; a function without a file is its own place.
func place(s evidence.Site) string {
	switch {
	case s.File == "":
		return term.Dash
	case s.Line <= 0:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Texts for a missing compiler's reason, with the evidence it needs.
const (
	noReason      = "reason not known"
	needsCompiler = "not known: needs the compiler's escape decisions"
)

// whyOnHeap is the reason of a finding in one sentence: the compiler's in
// plain words, else the kind of allocation.
func whyOnHeap(f finding.Row) string {
	why := noReason
	switch {
	case f.Escape != nil && f.Escape.Text != "":
		why = f.Escape.Text
	case f.Allocation.Kind != finding.KindUnknown:
		why = string(f.Allocation.Kind) + ", " + noReason
	}
	if f.Allocation.Via != "" {
		why = "via " + shortName(f.Allocation.Via) + ": " + why
	}
	return why
}

// cure is the code of a finding's remedy; empty when none is named.
func cure(f finding.Row) string {
	if f.Remedy.Code == unclassified {
		return ""
	}
	return f.Remedy.Code
}

// codeOf is the same, with a word for no code.
func codeOf(f finding.Row) string {
	if f.Remedy.Code == "" {
		return unclassified
	}
	return f.Remedy.Code
}

// Codes that name no change.
const (
	unclassified = "unclassified"
	leaveIt      = "leave-it"
)

// cured reports whether a finding's remedy is a change.
func cured(f finding.Row) bool { return cure(f) != "" && cure(f) != leaveIt }

// tag is a code as it is printed before a text; empty when there is none.
func tag(code string) string {
	if code == "" {
		return ""
	}
	return "[" + code + "] "
}

// whatToDo is a finding's remedy in one line; if none is named, the reason why the value is
// on the heap.
func whatToDo(f finding.Row) string {
	if cure(f) == "" {
		return whyOnHeap(f)
	}
	return strings.TrimSpace(tag(cure(f)) + f.Remedy.Text)
}

// rankOf is the rank of the i-th finding.
func rankOf(rep *finding.Report, i int) int {
	if r := rep.Prescription.Rows[i].Rank; r > 0 {
		return r
	}
	return i + 1
}
