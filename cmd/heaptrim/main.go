// Command heaptrim finds what memory management costs a Go program, line by
// line, says what to change, and predicts what that saves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/heaptrim/heaptrim/internal/fix/journal"
	show "github.com/heaptrim/heaptrim/internal/report/progress"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// Exit codes.
const (
	exitClean    = 0
	exitFailed   = 1 // could not run
	exitUsage    = 2
	exitFindings = 3 // findings, or a budget broken
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends the program at once.
	context.AfterFunc(ctx, stop)
	// A closed pipe must not end the program before it removes its folders: with a handler, the write fails with EPIPE.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	offerLoad()
	os.Exit(run(ctx, os.Args[1:], stdio{os.Stdout, os.Stderr}))
}

// stdio is where a command prints: results on out, progress and errors on err.
type stdio struct{ out, err io.Writer }

// verb is one command of the program.
type verb struct {
	name    string
	summary string
	run     func(ctx context.Context, c verb, args []string, io stdio) error
	usage   string // below the synopsis: what it does, with examples that run
}

func commands() []verb {
	return []verb{
		{"check", "record a program and report what memory management costs it, line by line", runCheck, checkUsage},
		{"record", "record a program into a bundle, to check later or to send to another person", runRecord, recordUsage},
		{"view", "open a recording in the browser", runView, viewUsage},
		{"trace", "show from an execution trace what the collector did and what it delayed", runTrace, traceUsage},
		{"gctrace", "sum up a collector's log: pauses, growth and time between cycles, over time", runGCTrace, gctraceUsage},
		{"perf", "show from a perf recording what the kernel did for the program's memory", runPerf, perfUsage},
		{"fix", "apply the cures that hold when they are tried, and show what they saved", runFix, fixUsage},
		{"prove", "run two versions of a program in turns and say which one is better", runProve, proveUsage},
		{"guard", "keep what benchmarks allocate within budgets, in CI", runGuard, guardUsage},
		{"tune", "recommend a setting of the collector for the program", runTune, tuneUsage},
		{"load", "make HTTP requests at a fixed rate and print their latencies", runLoad, loadUsage},
		{"explain", "explain a cure that check names, or list them all", runExplain, explainUsage},
		{"version", "print heaptrim's version", runVersion, versionUsage},
	}
}

// errUsage marks errors of the command line. errFindings is not an error: it
// carries the exit code of a report that has findings.
var (
	errUsage    = errors.New("usage")
	errFindings = errors.New("findings")
)

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errUsage}, args...)...)
}

// run runs a command. Results that could not be written are no success, whoever printed them.
func run(ctx context.Context, args []string, std stdio) int {
	out := &show.Stream{W: std.out}
	code := runCommand(ctx, args, stdio{out, std.err})
	if out.Err != nil && (code == exitClean || code == exitFindings) {
		return exitCode(verb{name: args[0]}, out.Err, std)
	}
	return code
}

func runCommand(ctx context.Context, args []string, std stdio) int {
	if len(args) == 0 {
		printHelp(std.err)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	if isHelp(name) {
		return help(rest, std)
	}
	recoverFixes(std)
	for _, c := range commands() {
		if c.name == name {
			return exitCode(c, c.run(ctx, c, rest, std), std)
		}
	}
	fmt.Fprintf(std.err, "heaptrim: unknown command %q; 'heaptrim help' lists them\n", name)
	return exitUsage
}

// recoverFixes undoes fixes that were cut short by the end of their process.
func recoverFixes(std stdio) {
	store, err := journal.NewStore()
	if err != nil {
		return // there is no place where one could have begun
	}
	files, err := store.Recover(context.Background())
	for _, name := range files {
		fmt.Fprintf(std.err, "heaptrim: a fix was cut short; %s is as it was before it\n", harmless(name))
	}
	if err != nil {
		fmt.Fprintf(std.err, "heaptrim: a fix was cut short and could not be undone: %s\n", harmless(err.Error()))
	}
}

func exitCode(c verb, err error, std stdio) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, syscall.EPIPE) && strings.Contains(err.Error(), os.Stdout.Name()):
		return exitFailed // nobody reads on
	case errors.Is(err, errUsage):
		text := strings.TrimPrefix(err.Error(), errUsage.Error()+": ")
		fmt.Fprintf(std.err, "heaptrim %s: %s\nrun 'heaptrim %s -h' for help\n", c.name, harmless(text), c.name)
		return exitUsage
	}
	fmt.Fprintf(std.err, "heaptrim %s: %s\n", c.name, harmless(err.Error()))
	return exitFailed
}

// harmless cleans each line of a message, which may hold names and output of others.
func harmless(text string) string { return term.CleanLines(text) }

// isHelp reports whether a command's name asks for help: the verb itself, or a
// flag in its place.
func isHelp(name string) bool {
	return slices.Contains([]string{"help", "-h", "-help", "--help"}, name)
}

func help(args []string, std stdio) int {
	if len(args) == 0 || isHelp(args[0]) {
		printHelp(std.out)
		return exitClean
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitCode(c, c.run(context.Background(), c, []string{"-h"}, std), std)
		}
	}
	fmt.Fprintf(std.err, "heaptrim help: unknown command %q\n", args[0])
	return exitUsage
}

func printHelp(w io.Writer) {
	fmt.Fprint(w, `heaptrim finds what memory management costs a Go program, line by line.

Usage: heaptrim COMMAND [flags] [arguments]

`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
'heaptrim COMMAND -h' explains a command.
Exit codes: 0 clean, 1 could not run, 2 usage, 3 findings.
`)
}

// newFlags makes the flag set of a command. It prints the usage itself so that
// an error and -h go where they belong.
func newFlags(c verb, std stdio) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse reads the flags; -h prints the usage on standard output.
func parse(fs *flag.FlagSet, c verb, args []string, std stdio) error {
	err := parseAll(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(std.out, strings.TrimLeft(c.usage, "\n"))
		var flags strings.Builder
		fs.SetOutput(&flags)
		if fs.PrintDefaults(); flags.Len() > 0 {
			fmt.Fprintf(std.out, "\nFlags:\n%s", flags.String())
		}
		return err
	case err != nil:
		return usagef("%v", err)
	}
	return nil
}

// parseAll parses flags wherever they are; all that follows -- is an argument.
func parseAll(fs *flag.FlagSet, args []string) error {
	var given []string
	for {
		if err := fs.Parse(args); err != nil {
			return err
		}
		if n := len(args) - fs.NArg(); fs.NArg() == 0 || n > 0 && args[n-1] == "--" {
			break
		}
		given, args = append(given, fs.Arg(0)), fs.Args()[1:]
	}
	return fs.Parse(slices.Concat([]string{"--"}, given, fs.Args()))
}

const versionUsage = `
Usage: heaptrim version

Prints the version of heaptrim and of the Go release it was built with.

Example:
  heaptrim version
`

func runVersion(_ context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usagef("version takes no arguments")
	}
	fmt.Fprintln(std.out, version())
	return nil
}

// version is the module's version as the go command stamped it.
func version() string {
	v, goVersion := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		if info.Main.Version != "" {
			v = info.Main.Version
		}
	}
	return strings.TrimSpace("heaptrim " + v + " " + goVersion)
}
