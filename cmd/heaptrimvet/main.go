// Command heaptrimvet reports, from source alone, code that allocates where a
// known rewrite would not. It knows nothing of profiles: use `heaptrim check -vet`
// to see the findings of hot lines only.
//
//	heaptrimvet ./...
//	go vet -vettool=$(which heaptrimvet) ./...
//	heaptrimvet help presizeslice
//
// It exits with 0 if there is nothing to say, 3 with findings, and 1 if it
// could not run; under go vet, as go vet does. It reports only and changes no source.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/heaptrim/heaptrim/analyzers"
	"github.com/heaptrim/heaptrim/internal/guard/contract/analyzer"
)

// withoutEffect are flags of the driver that do nothing here: the rules offer no
// fixes, and the others are deprecated.
var withoutEffect = []string{"fix", "diff", "all", "source", "tags", "v"}

func main() {
	if name := fixFlag(os.Args[1:]); name != "" {
		fmt.Fprintf(os.Stderr, "heaptrimvet: -%s is not supported: the rules report, and offer no fixes\n", name)
		os.Exit(1)
	}
	flag.Usage = usage
	if slices.Equal(os.Args[1:], []string{"help"}) {
		// The driver's own help speaks of fixes. Its -h calls usage.
		flag.CommandLine.SetOutput(os.Stdout)
		os.Args[1] = "-h"
	}
	multichecker.Main(append(analyzers.All(), analyzer.New())...)
}

// fixFlag returns the flag in args that asks for fixes, or "".
func fixFlag(args []string) string {
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if strings.HasPrefix(arg, "-") && (name == "fix" || name == "diff") && value != "false" {
			return name
		}
	}
	return ""
}

// usage prints the rules and the flags that have an effect.
func usage() {
	out := flag.CommandLine.Output()
	fmt.Fprint(out, `heaptrimvet reports code that allocates where a known rewrite would not.
It reports only and changes no source.

Usage:

    heaptrimvet [flags] packages
    go vet -vettool=$(which heaptrimvet) packages
    heaptrimvet help RULE

Rules:

`)
	for _, r := range analyzers.Rules() {
		fmt.Fprintf(out, "    %-15s %s\n", r.Analyzer.Name, r.Title)
	}
	fmt.Fprint(out, "\nContracts:\n\n    heaptrimcontract //heaptrim:noalloc, by the compiler's escape output\n")
	fmt.Fprint(out, "\nAll rules run by default. -RULE runs that rule only, -RULE=false all others.\n\nFlags:\n\n")
	shown := flag.NewFlagSet("", flag.ContinueOnError)
	shown.SetOutput(out)
	flag.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(withoutEffect, f.Name) {
			shown.Var(f.Value, f.Name, f.Usage)
		}
	})
	shown.PrintDefaults()
}
