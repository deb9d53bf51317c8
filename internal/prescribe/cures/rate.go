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

// priorCases is how many cases what is thought of a rule before its own is worth.
const priorCases = 2

// HitRate is how often a rule is right, from 0 to 1: its cases, with as many as priorCases of its cure's
// other rules before them, and of all rules before those.
func HitRate(code, rule string) float64 {
	all := func(Rate) bool { return true }
	sameCode := func(r Rate) bool { return r.Code == code }
	itself := func(r Rate) bool { return r.Code == code && r.Rule == rule }
	return mean(mean(mean(0.5, all), sameCode), itself)
}

// mean is the part that was right of the cases of some rules, with priorCases that are right as often as
// prior says.
func mean(prior float64, of func(Rate) bool) float64 {
	right, named := prior*priorCases, float64(priorCases)
	for _, r := range rates {
		if of(r) {
			weight := min(1, float64(r.Modules)/leastModules) // cases of one module say little of others
			right, named = right+weight*float64(r.Right), named+weight*float64(r.Named)
		}
	}
	return right / named
}
