package schema

import "time"

// GuardVersion is the version of the JSON of heaptrim guard; doc/format/guard.md is its specification.
const GuardVersion = "heaptrim.guard/1"

type (
	// Guard is the document of heaptrim guard.
	Guard struct {
		Schema     string          `json:"schema"`
		Tool       string          `json:"tool"`
		Created    *time.Time      `json:"created"`
		Module     string          `json:"module"`
		Env        string          `json:"environment"`
		Home       string          `json:"budget_environment"`
		Base       string          `json:"base"`
		Commit     string          `json:"base_commit"`
		Failed     bool            `json:"failed"`
		Benchmarks []GuardBench    `json:"benchmarks"`
		Left       int             `json:"unaffected"`
		Contracts  []GuardContract `json:"contracts"`
		Modules    []string        `json:"changed_modules"`
		Warnings   []string        `json:"warnings"`
	}

	// GuardBench is a benchmark, or a function in one, at one value of GOMAXPROCS.
	GuardBench struct {
		Package   string        `json:"package"`
		Name      string        `json:"name"`
		Site      string        `json:"site"`
		CPU       int           `json:"cpu"`
		Status    string        `json:"status"`
		Fails     bool          `json:"fails"`
		Inherited bool          `json:"inherited"`
		Ops       int64         `json:"operations"`
		Now       GuardAmounts  `json:"now"`
		Budget    *GuardAmounts `json:"budget"`
		Tolerance *GuardAmounts `json:"tolerance"`
		Base      *GuardAmounts `json:"base"`
		Reason    string        `json:"reason"`
		Why       string        `json:"why"`
		From      string        `json:"from"`
		Causes    []GuardCause  `json:"causes"`
	}

	// GuardCause is a line that makes a benchmark allocate more.
	GuardCause struct {
		File      string       `json:"file"`
		Line      int          `json:"line"`
		Function  string       `json:"function"`
		Text      string       `json:"text"`
		Changed   bool         `json:"changed"`
		Allocates GuardPlace   `json:"allocates"`
		Via       string       `json:"via"`
		Module    string       `json:"module"`
		Kind      string       `json:"kind"`
		Before    GuardAmounts `json:"before"`
		After     GuardAmounts `json:"after"`
		Escape    string       `json:"escape"`
		NewEscape bool         `json:"escape_is_new"`
		Cure      *GuardCure   `json:"cure"`
	}

	// GuardPlace is a line.
	GuardPlace struct {
		File string `json:"file"`
		Line int    `json:"line"`
	}

	// GuardCure is what to do about a line.
	GuardCure struct {
		Code string `json:"code"`
		Text string `json:"text"`
	}

	// GuardContract is a promise in the source and whether it holds.
	GuardContract struct {
		Package   string     `json:"package"`
		Name      string     `json:"name"`
		Directive string     `json:"directive"`
		Place     GuardPlace `json:"place"`
		State     string     `json:"state"`
		Inherited bool       `json:"inherited"`
		Why       string     `json:"why"`
		At        GuardPlace `json:"at"`
	}

	// GuardAmounts are what an operation allocates.
	GuardAmounts struct {
		Allocs float64 `json:"allocs_per_op"`
		Bytes  float64 `json:"bytes_per_op"`
	}
)
