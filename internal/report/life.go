package report

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// lifeEnds are the words of the documents for where a life ends.
var lifeEnds = map[finding.End]string{
	finding.EndUnknown: "not known",
	finding.EndFrame:   "frame",
	finding.EndResult:  "result",
	finding.EndStored:  "stored",
	finding.EndShared:  "shared",
}

// lifeText says where the life of an object ends; "" where nothing is known of it.
func lifeText(l finding.Life) string {
	function := shortName(l.Function)
	switch l.End {
	case finding.EndFrame:
		return "It dies in " + function + ": nothing that outlives that call refers to it."
	case finding.EndResult:
		return "It is part of what " + function + " returns to code outside of yours."
	case finding.EndShared:
		return "In " + function + " another goroutine gets it."
	case finding.EndStored:
		if l.Holder == "" {
			return "In " + function + " it is stored in what outlives the call."
		}
		return "In " + function + " it is stored in `" + l.Holder + "`, which outlives the call."
	}
	if l.Unknown != "" {
		return "Where it dies is not known: " + l.Unknown + " cannot be seen."
	}
	return ""
}

// placesRemark lists the lines that allocate for a row, other than its own, with their shares of its cost; "" for none.
func placesRemark(f finding.Row) string {
	const most = 4
	var places []string
	for _, p := range f.Allocation.Places {
		if p.Site.File == f.Site.File && p.Site.Line == f.Site.Line {
			continue
		}
		where := fmt.Sprintf("%s:%d", p.Site.File, p.Site.Line)
		if p.Site.File == f.Site.File {
			where = fmt.Sprintf("line %d", p.Site.Line)
		}
		places = append(places, fmt.Sprintf("%s %s", where, term.FormatPercent(p.Share)))
	}
	if len(places) == 0 {
		return ""
	}
	if more := len(places) - most; more > 0 {
		places = append(places[:most], fmt.Sprintf("%d more", more))
	}
	return "; of its cost " + strings.Join(places, ", ")
}

// callersRemark names the callers of a helper that matter, and says where a change belongs:
// where the cure is, or else where the objects end; "" where there are not several.
func callersRemark(f finding.Row) string {
	if len(f.Allocation.Callers) == 0 {
		return ""
	}
	var names []string
	for _, c := range f.Allocation.Callers {
		names = append(names, shortName(c.Site.Function)+" "+term.FormatPercent(c.Share))
	}
	callers := strings.Join(names, ", ")
	switch l := f.Remedy.Life; {
	case cured(f):
		return "; one change here serves its callers " + callers
	case l.End == finding.EndFrame && l.Frame > 0:
		return "; it dies in its callers, so a change belongs there: " + callers
	case l.End != finding.EndUnknown && l.End != finding.EndFrame:
		return "; what it makes is kept, so only its callers can ask for less: " + callers
	}
	return "; its callers are " + callers
}
