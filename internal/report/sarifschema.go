package report

import "github.com/heaptrim/heaptrim/internal/schema"

// The types below are the part of SARIF 2.1.0 that we write. Numbers that may
// be unknown and objects that may be missing are left out, as the standard has
// no null for them. Property bags have the keys of the JSON report.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}

	sarifRun struct {
		Tool        sarifTool            `json:"tool"`
		Automation  sarifAutomation      `json:"automationDetails"`
		Invocations []sarifInvocation    `json:"invocations"`
		BaseIDs     map[string]sarifBase `json:"originalUriBaseIds"`
		ColumnKind  string               `json:"columnKind"`
		Results     []sarifResult        `json:"results"`
		Properties  sarifRunProperties   `json:"properties"`
	}

	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}

	sarifAutomation struct {
		ID string `json:"id"`
	}

	sarifDriver struct {
		Name            string      `json:"name"`
		FullName        string      `json:"fullName,omitempty"`
		SemanticVersion string      `json:"semanticVersion"`
		InformationURI  string      `json:"informationUri"`
		Rules           []sarifRule `json:"rules"`
	}

	sarifRule struct {
		ID         string              `json:"id"`
		Name       string              `json:"name,omitempty"`
		Short      sarifText           `json:"shortDescription"`
		Full       sarifText           `json:"fullDescription"`
		Help       sarifText           `json:"help"`
		HelpURI    string              `json:"helpUri"`
		Default    sarifConfiguration  `json:"defaultConfiguration"`
		Properties sarifRuleProperties `json:"properties"`
	}

	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}

	sarifConfiguration struct {
		Level string `json:"level"`
	}

	sarifRuleProperties struct {
		Tags   []string `json:"tags"`
		Safety string   `json:"safety"`
	}

	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}

	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}

	sarifBase struct {
		Description sarifText `json:"description"`
	}

	sarifResult struct {
		RuleID       string                `json:"ruleId"`
		RuleIndex    int                   `json:"ruleIndex"`
		Kind         string                `json:"kind"`
		Level        string                `json:"level"`
		Message      sarifText             `json:"message"`
		Locations    []sarifLocation       `json:"locations"`
		Fingerprints map[string]string     `json:"partialFingerprints"`
		Properties   sarifResultProperties `json:"properties"`
	}

	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}

	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}

	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}

	sarifRegion struct {
		StartLine int `json:"startLine"`
	}

	sarifLogical struct {
		FullName string `json:"fullyQualifiedName"`
		Kind     string `json:"kind"`
	}

	sarifResultProperties struct {
		Rank         int                `json:"rank"`
		Safety       string             `json:"safety"`
		Prediction   *schema.Prediction `json:"prediction,omitempty"`
		CostCPU      *schema.Interval   `json:"cpu_share,omitempty"`
		BytesPerOp   *float64           `json:"bytes_per_op,omitempty"`
		ObjectsPerOp *float64           `json:"objects_per_op,omitempty"`
	}

	sarifRunProperties struct {
		MemoryShare *schema.Interval   `json:"memory_share,omitempty"`
		Together    *schema.Prediction `json:"together,omitempty"`
	}
)
