package schema

import "time"

// ProveVersion is the version of the JSON of a comparison; doc/format/prove.md is
// its specification.
const ProveVersion = "heaptrim.prove/1"

type (
	// Prove is the document of heaptrim prove.
	Prove struct {
		Schema      string            `json:"schema"`
		Tool        string            `json:"tool"`
		Created     *time.Time        `json:"created"`
		Verdict     ProveVerdict      `json:"verdict"`
		A           ProveSide         `json:"a"`
		B           ProveSide         `json:"b"`
		Sides       []ProveNamed      `json:"sides"`
		Target      ProveTarget       `json:"target"`
		Rules       ProveRules        `json:"rules"`
		Seed        uint64            `json:"seed"`
		MeasuredNS  int64             `json:"measured_ns"`
		ClearAfter  *float64          `json:"clear_after_pairs"`
		Partial     bool              `json:"partial"`
		Environment Environment       `json:"environment"`
		Comparisons []ProveComparison `json:"comparisons"`
		LeftOut     []string          `json:"left_out"`
		Warnings    []string          `json:"warnings"`
	}

	// ProveVerdict is what a comparison comes to.
	ProveVerdict struct {
		Outcome  string         `json:"outcome"`
		Sentence string         `json:"sentence"`
		Counts   map[string]int `json:"counts"`
	}

	// ProveNamed is one of several sides that were compared with A.
	ProveNamed struct {
		Name    string        `json:"name"`
		Side    ProveSide     `json:"side"`
		Verdict *ProveVerdict `json:"verdict"`
	}

	// ProveSide is a version of the program, as it was built.
	ProveSide struct {
		Spec      string        `json:"spec"`
		Commit    string        `json:"commit"`
		Dirty     bool          `json:"dirty"`
		Version   string        `json:"version"`
		GoVersion string        `json:"go_version"`
		Env       []string      `json:"env"`
		Binaries  []ProveBinary `json:"binaries"`
	}

	// ProveBinary is an executable of a side.
	ProveBinary struct {
		Package string `json:"package"`
		SHA256  string `json:"sha256"`
	}

	// ProveTarget is what was run.
	ProveTarget struct {
		Kind       string   `json:"kind"`
		Args       []string `json:"args"`
		Bench      string   `json:"bench"`
		Load       string   `json:"load"`
		BuildFlags []string `json:"build_flags"`
		RunTimeNS  int64    `json:"run_time_ns"`
	}

	// ProveRules are the limits that decided when to stop and what counts as a difference.
	ProveRules struct {
		Alpha     float64  `json:"alpha"`
		MinEffect float64  `json:"min_effect"`
		Precision float64  `json:"precision"`
		MaxPairs  int      `json:"max_pairs"`
		Gate      []string `json:"gate"`
	}

	// ProveComparison is one benchmark, or the load, of both sides.
	ProveComparison struct {
		Name       string        `json:"name"`
		Package    string        `json:"package"`
		Side       string        `json:"side"`
		Outcome    string        `json:"outcome"`
		Iterations *float64      `json:"iterations"`
		Pairs      int           `json:"pairs"`
		Changes    []ProveChange `json:"changes"`
		Differs    []string      `json:"work_differs"`
		FailedA    string        `json:"failed_a"`
		FailedB    string        `json:"failed_b"`
		Warnings   []string      `json:"warnings"`
		PausesA    *ProvePauses  `json:"pauses_a"`
		PausesB    *ProvePauses  `json:"pauses_b"`
		Runs       []ProveRun    `json:"runs"`
	}

	// ProvePauses are of all runs of a side.
	ProvePauses struct {
		Count int           `json:"count"`
		P50NS time.Duration `json:"p50_ns"`
		P99NS time.Duration `json:"p99_ns"`
		MaxNS time.Duration `json:"max_ns"`
	}

	// ProveChange is one measured quantity of both sides.
	ProveChange struct {
		Unit     string        `json:"unit"`
		Label    string        `json:"label"`
		Sense    int           `json:"sense"`
		Judged   bool          `json:"judged"`
		Outcome  string        `json:"outcome"`
		A        *OpenInterval `json:"a"`
		B        *OpenInterval `json:"b"`
		RunsA    int           `json:"runs_a"`
		RunsB    int           `json:"runs_b"`
		Change   *OpenInterval `json:"change"`
		Exact    bool          `json:"exact"`
		Apart    bool          `json:"apart"`
		P        *float64      `json:"p"`
		Adjusted *float64      `json:"p_adjusted"`
		Rank     *float64      `json:"p_benchmath"`
		Warnings []string      `json:"warnings"`
	}

	// OpenInterval is an interval whose bounds may be unknown.
	OpenInterval struct {
		Value float64  `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}

	// ProveRun is one run of one side.
	ProveRun struct {
		Side      string             `json:"side"`
		Pair      int                `json:"pair"`
		Collector bool               `json:"collector"`
		WallNS    int64              `json:"wall_ns"`
		Values    map[string]float64 `json:"values"`
	}
)
