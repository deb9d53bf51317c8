package golangci_test

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/heaptrim/heaptrim/analyzers"
)

// TestPlugin: golangci-lint finds the plugin by its name, and it has the rules that the
// settings ask for.
func TestPlugin(t *testing.T) {
	make, err := register.GetPlugin("heaptrim")
	if err != nil {
		t.Fatal(err)
	}
	f := func(settings any, want int, fails bool) {
		t.Helper()
		p, err := make(settings)
		if (err != nil) != fails {
			t.Fatalf("%v: error %v", settings, err)
		}
		if fails {
			return
		}
		list, err := p.BuildAnalyzers()
		if err != nil || len(list) != want {
			t.Errorf("%v: %d analysers, want %d (error %v)", settings, len(list), want, err)
		}
		if p.GetLoadMode() != register.LoadModeTypesInfo {
			t.Errorf("%v: the rules need types", settings)
		}
	}
	f(nil, len(analyzers.All()), false)
	f(map[string]any{"rules": []string{"presize-slice", "pool-misuse"}}, 2, false)
	f(map[string]any{"rules": []string{"presize-slices"}}, 0, true)
	f(map[string]any{"rule": []string{"presize-slice"}}, 0, true)
}
