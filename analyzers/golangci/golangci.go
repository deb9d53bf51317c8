// Package golangci makes the rules of heaptrimvet a module plugin of golangci-lint, named
// heaptrim. Nothing else imports it: golangci-lint is built with it by its command custom.
package golangci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/heaptrim/heaptrim/analyzers"
)

// A blank import by golangci-lint's builder is all that a plugin is given.
func init() { register.Plugin("heaptrim", New) }

// Settings are those of the plugin in .golangci.yml. The zero value runs all rules.
type Settings struct {
	Rules []string `json:"rules"` // codes of the rules to run, such as presize-slice; none means all
}

// New makes the plugin from its settings. A setting or a rule that does not exist is an error.
func New(conf any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](conf)
	if err != nil {
		return nil, err
	}
	var p plugin
	unknown := slices.Clone(s.Rules)
	for _, r := range analyzers.Rules() {
		if len(s.Rules) == 0 || slices.Contains(s.Rules, r.Code) {
			p = append(p, r.Analyzer)
		}
		unknown = slices.DeleteFunc(unknown, func(code string) bool { return code == r.Code })
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("heaptrim has no rule %s", strings.Join(unknown, ", "))
	}
	return p, nil
}

type plugin []*analysis.Analyzer

func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p, nil }

func (p plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
