// Command heaptrimvet reports, from source alone, code that allocates where a
// known rewrite would not. It knows nothing of profiles: use `heaptrim check -vet`
// to see the findings of hot lines only.
//
//	heaptrimvet ./...
//	go vet -vettool=$(which heaptrimvet) ./...
//	heaptrimvet help presizeslice
//
// It exits with 0 if there is nothing to say, 3 with findings, and 1 if it
// could not run; under go vet, as go vet does.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/heaptrim/heaptrim/analyzers"
)

func main() { multichecker.Main(analyzers.All()...) }
