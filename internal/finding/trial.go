package finding

// Trial is an edit for a finding, and what came of it alone.
type Trial struct {
	Finding  int    // its number
	Code     string // of the cure that the edit applies
	Kind     string // of edit
	Tried    bool   // false: there was no time for it, and all below Question is zero
	Text     string // what it does
	Question string // what it rests on and the source does not prove; empty for a safe edit
	Gone     bool   // what the line allocated is not allocated any more, nor anything in its place: that needs no trial
	Bench    string // the benchmark that counted
	Before   Amount
	After    Amount
	Holds    bool // it allocates less, and no test fails with it
	Tested   bool // tests of the package passed with it
}

// Amount is what an operation allocates, as a mean.
type Amount struct{ Allocs, Bytes float64 }
