package analyzer_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/heaptrim/heaptrim/internal/guard/contract/analyzer"
)

func TestAnalyzer(t *testing.T) {
	t.Setenv("GO111MODULE", "off")
	dir := analysistest.TestData()
	t.Setenv("GOPATH", dir)
	analysistest.Run(t, dir, analyzer.New(), "promise")
}
