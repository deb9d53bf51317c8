package schema

// BriefVersion is the version of the JSON that heaptrim fix -with hands to an outside program;
// doc/format/brief.md is its specification.
const BriefVersion = "heaptrim.brief/1"

type (
	// Brief is what an outside program gets on its standard input, for one finding.
	Brief struct {
		Schema   string        `json:"schema"`
		Tool     string        `json:"tool"`
		Module   string        `json:"module"`
		Finding  BriefFinding  `json:"finding"`
		Source   BriefSource   `json:"source"`
		Evidence BriefEvidence `json:"evidence"`
		Facts    []BriefFact   `json:"facts"`
		Vetoes   []string      `json:"vetoes"`
		MustStay []string      `json:"must_stay"`
		Folders  []string      `json:"folders"`
		Check    BriefCheck    `json:"check"`
		Limits   BriefLimits   `json:"limits"`
	}

	// BriefFinding is what was found, and the cure that the report names.
	BriefFinding struct {
		Title    string `json:"title"`
		Code     string `json:"code"`
		Text     string `json:"text"`
		Why      string `json:"why"`
		Function string `json:"function"`
		Package  string `json:"package"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}

	// BriefSource is the function of the finding.
	BriefSource struct {
		File string `json:"file"`
		From int    `json:"from_line"`
		Text string `json:"text"`
	}

	// BriefEvidence is what was measured.
	BriefEvidence struct {
		Benchmark string       `json:"benchmark"`
		Total     FixAmounts   `json:"total"`
		Site      FixAmounts   `json:"site"`
		Sizes     []BriefSize  `json:"sizes"`
		Escape    string       `json:"escape"`
		Stack     []BriefFrame `json:"stack"`
	}

	// BriefSize is how many objects have a size.
	BriefSize struct {
		Bytes   int64   `json:"bytes"`
		Objects float64 `json:"objects"`
	}

	// BriefFrame is a frame of the heaviest stack.
	BriefFrame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}

	// BriefFact is something that is known of the objects.
	BriefFact struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}

	// BriefCheck are commands by which a program can see what the judge will see.
	BriefCheck struct {
		Test  []string `json:"test"`
		Bench []string `json:"bench"`
	}

	// BriefLimits are what the program may use.
	BriefLimits struct {
		Seconds   int `json:"seconds"`
		Processes int `json:"processes"`
	}
)
