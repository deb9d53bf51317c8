package report

import (
	"github.com/heaptrim/heaptrim/internal/finding"
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
