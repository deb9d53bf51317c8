package schema

import "time"

// FixVersion is the version of the JSON of heaptrim fix; doc/format/fix.md is its specification.
const FixVersion = "heaptrim.fix/1"

// FixRecordVersion is the version of a line of the file of heaptrim fix -record.
const FixRecordVersion = "heaptrim.fixrecord/1"

type (
	// FixRecord is a line of the file of heaptrim fix -record: an edit that was applied.
	FixRecord struct {
		Schema    string     `json:"schema"`
		Tool      string     `json:"tool"`
		Date      time.Time  `json:"date"`
		Module    string     `json:"module"`
		File      string     `json:"file"`
		Line      int        `json:"line"`
		Code      string     `json:"code"`
		Kind      string     `json:"kind"`
		Benchmark string     `json:"benchmark"`
		Predicted FixRange   `json:"predicted_saving"`
		Measured  FixAmounts `json:"measured_saving"`
	}

	// FixRange is a predicted saving with its interval.
	FixRange struct {
		Allocs     float64 `json:"allocs_per_op"`
		AllocsLow  float64 `json:"allocs_per_op_low"`
		AllocsHigh float64 `json:"allocs_per_op_high"`
		Bytes      float64 `json:"bytes_per_op"`
		BytesLow   float64 `json:"bytes_per_op_low"`
		BytesHigh  float64 `json:"bytes_per_op_high"`
	}

	// Fix is the document of heaptrim fix.
	Fix struct {
		Schema   string       `json:"schema"`
		Tool     string       `json:"tool"`
		Created  *time.Time   `json:"created"`
		Applied  bool         `json:"applied"`
		Findings int          `json:"findings"`
		NoEdit   int          `json:"no_edit"`
		Attempts []FixAttempt `json:"attempts"`
		Without  []FixWithout `json:"without_edit"`
		Failing  []string     `json:"failing_before"`
		Packages []string     `json:"tested_packages"`
		Passed   int          `json:"tests_passed"`
		Raced    []string     `json:"raced_packages"`
		Fuzzed   []string     `json:"fuzzed"`
		Covered  int          `json:"kept_compared"`
		Skipped  int          `json:"packages_without_time"`
		Late     []string     `json:"looks_without_time"`
		Times    string       `json:"times"`
		Diff     string       `json:"diff"`
	}

	// FixAttempt is an edit and what became of it.
	FixAttempt struct {
		Code      string     `json:"code"`
		Kind      string     `json:"kind"`
		File      string     `json:"file"`
		Line      int        `json:"line"`
		Text      string     `json:"text"`
		Outcome   string     `json:"outcome"`
		Why       string     `json:"why"`
		Question  string     `json:"question"`
		Benchmark string     `json:"benchmark"`
		Predicted FixAmounts `json:"predicted_saving"`
		Before    FixAmounts `json:"before"`
		After     FixAmounts `json:"after"`
		Judged    FixJudged  `json:"judged"`
		By        string     `json:"by"`
		Diff      string     `json:"diff"`
	}

	// FixWithout is a finding for which no edit is known.
	FixWithout struct {
		Code      string     `json:"code"`
		Text      string     `json:"text"`
		Kind      string     `json:"kind"`
		File      string     `json:"file"`
		Line      int        `json:"line"`
		Function  string     `json:"function"`
		Benchmark string     `json:"benchmark"`
		Cost      FixAmounts `json:"cost"`
	}

	// FixJudged is what looked at whether the program does the same.
	FixJudged struct {
		Tests     int `json:"tests"`
		Calls     int `json:"calls"`
		TestCalls int `json:"calls_of_tests"`
		Reached   int `json:"parts_reached"`
		Parts     int `json:"parts"`
	}

	// FixAmounts are what an operation allocates.
	FixAmounts struct {
		Allocs float64 `json:"allocs_per_op"`
		Bytes  float64 `json:"bytes_per_op"`
	}
)
