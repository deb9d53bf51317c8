package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// build is another way to build and test packages of a module, such as with a tag
// or by another release of Go.
type build struct {
	text     string // as it was given
	dir      string // of the module, below the root
	env      []string
	flags    []string
	packages []string
	label    string // what to add to the names of its tests
}

var assignment = regexp.MustCompile(`^[A-Z]\w*=`)

// parseBuild reads the form of the flag: the folder, and then in any order
// variables of the environment, flags of go test and packages, of which none
// stands for all.
func parseBuild(text string) (build, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return build{}, fmt.Errorf("no folder in %q", text)
	}
	b := build{text: text, dir: words[0]}
	for _, w := range words[1:] {
		switch {
		case assignment.MatchString(w):
			b.env = append(b.env, w)
		case strings.HasPrefix(w, "-"):
			b.flags = append(b.flags, w)
		default:
			b.packages = append(b.packages, w)
		}
	}
	if len(b.packages) == 0 {
		b.packages = []string{"./..."}
	}
	return b, nil
}

// missing returns why the build cannot be tested here, or "": the release of Go
// that it names is neither here nor to be downloaded.
func (b build) missing(ctx context.Context, module string) string {
	for _, e := range b.env {
		version, ok := strings.CutPrefix(e, "GOTOOLCHAIN=")
		if !ok {
			continue
		}
		out, err := b.command(ctx, module, "env", "GOVERSION").CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != version {
			return fmt.Sprintf("no %s here: %s", version, got)
		}
	}
	return ""
}

// list asks for the import paths of its packages.
func (b build) list(ctx context.Context, module string) ([]string, error) {
	cmd := b.command(ctx, module, append([]string{"list"}, b.packages...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", module, err)
	}
	return strings.Fields(string(out)), nil
}

// run runs the command in the module and adds up what it reports.
func (b build) run(ctx context.Context, root string, command []string, total *tally) {
	module := filepath.Join(root, b.dir)
	fmt.Fprintf(total.live, "--- module %s\n", b.text)
	total.build = b.label
	if reason := b.missing(ctx, module); reason != "" {
		total.skipped = append(total.skipped, b.text+": "+reason)
		return
	}
	args := slices.Concat(command, b.flags, b.packages)
	if err := goTest(b.command(ctx, module, args...), total); err != nil {
		err = fmt.Errorf("module %s: go %s: %w", module, strings.Join(args, " "), err)
		fmt.Fprintln(total.live, err)
		total.broken = append(total.broken, err.Error())
	}
}

// command is one of go in a module, with the environment of the build.
func (b build) command(ctx context.Context, module string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	cmd.Env = slices.Concat(os.Environ(), []string{"GOWORK=off"}, b.env)
	return cmd
}

// goTest returns an error for a failure that is no test's.
func goTest(cmd *exec.Cmd, total *tally) error {
	cmd.Stderr = total.live
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := total.failures()
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			total.add(line)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil && total.failures() == failed {
		return err
	}
	return nil
}
