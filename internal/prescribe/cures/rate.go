package cures

// Rate is how often a rule was right where it named a cure.
type Rate struct {
	Code         string // of the cure
	Rule         string
	Right, Named int
	Modules      int // that it named one in
}

// AllRates are those of all rules that have named a cure.
func AllRates() []Rate { return rates }

// Rates are those of the rules of a cure.
func Rates(code string) []Rate {
	var out []Rate
	for _, r := range rates {
		if r.Code == code {
			out = append(out, r)
		}
	}
	return out
}

// leastModules is the number of modules from which a rule's cases say something of others.
const leastModules = 3

// What is thought of a rule before any case: as much as so many cases, of which a part was right. The part is
// a little below that of all rows that a reader judged (lab/truth/read.train.json). There are so many that a rule is
// not silent for one case of one module.
const (
	priorCases = 4
	priorRight = 0.55
)

// HitRate is how often a rule is right, from 0 to 1: its cases with what is thought before them.
func HitRate(code, rule string) float64 {
	right, named := priorRight*priorCases, float64(priorCases)
	for _, r := range rates {
		if r.Code == code && r.Rule == rule {
			weight := min(1, float64(r.Modules)/leastModules) // cases of one module say little of others
			right, named = right+weight*float64(r.Right), named+weight*float64(r.Named)
		}
	}
	return right / named
}
