package guard

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
)

// Status is what became of a benchmark.
type Status string

// The statuses. Those of a benchmark without a figure to compare are the events of package budget.
const (
	Within    Status = "within"
	Grew      Status = "grew"
	Shrank    Status = "shrank"
	Inherited Status = "inherited" // over its budget, and so it was in the version that is compared with
	Accepted  Status = "accepted"  // grew, and its budget was raised in the same change
)

// Bench is one benchmark, at one value of GOMAXPROCS, or one function in it.
type Bench struct {
	budget.Subject
	CPU       int
	Status    Status
	Rule      budget.Rule   // for statuses that are events, Shrank among them
	Line      *budget.Line  // of the file; nil without one
	Now       budget.Amount // the least that was counted
	Ops       int64
	Base      *budget.Amount // of the version that is compared with, where that was counted
	Inherited bool           // it breaks the same rule in the version that is compared with
	Why       string         // of a failure; the new or old name of a renamed benchmark
	Causes    []growth.Cause // of one that grew, the most likely line first
	From      string         // what growth comes from that is no change of the module's code
	NoBase    bool           // Causes are the lines that allocate most: there was nothing to compare with
}

// Result is what a run of guard found.
type Result struct {
	Module     string
	Dir        string // of the module
	File       string // name of the budget file, or where else budgets are kept
	Env        budget.Env
	Home       budget.Env
	Commit     string // that is compared with; "" for none
	Base       string // as it was asked for
	Benches    []Bench
	Left       int // benchmarks that no change can affect
	Unexact    bool
	Contracts  []contract.Result
	Warnings   []string
	Dependency []string // modules whose versions differ from the base's
	Adopted    *budget.File
}

// Failed reports whether a budget or a contract is broken.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Benches, Bench.Fails) || slices.ContainsFunc(r.Contracts, contract.Result.Fails)
}

// Fails reports whether a benchmark breaks its budget or a rule.
func (b Bench) Fails() bool { return b.Status == Grew || b.Rule == budget.Fail }

// Count is the number of benchmarks with a status.
func (r *Result) Count(s Status) int {
	n := 0
	for _, b := range r.Benches {
		if b.Status == s {
			n++
		}
	}
	return n
}
