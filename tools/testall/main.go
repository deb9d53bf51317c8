// The testall command tests every module of the repository and closes with one
// summary over all of them: what failed, what was skipped and why, and how many
// tests passed. It stands in a module of its own and imports the standard
// library only, so that running it needs no download.
//
//	go -C tools run ./testall -dir .. -race
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run returns 0 if every test passed or was skipped, 1 if one failed or could
// not be run, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("testall", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", ".", "root of the repository")
	detector := flags.Bool("race", false, "test with the race detector, where a C compiler is there for it")
	short := flags.Bool("short", false, "leave out tests that take long")
	pattern := flags.String("run", "", "only tests that match the regular expression")
	summary := flags.String("summary", "", "write the closing summary to `file` too")
	var also, plain []build
	flags.Func("also", "test a `build` of a module as well, without the race detector: its folder, variables, flags, packages", func(text string) error {
		b, err := parseBuild(text)
		b.label = " of " + text
		also = append(also, b)
		return err
	})
	flags.Func("plain", "test packages without the race detector only: those of a `build`", func(text string) error {
		b, err := parseBuild(text)
		plain = append(plain, b)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return 2
	}
	modules, err := findModules(*dir)
	if err != nil {
		fmt.Fprintln(stderr, "testall:", err)
		return 1
	}
	// The go command's ten minutes are too few for the longest package where the
	// machine has other work.
	command := []string{"test", "-json", "-timeout=90m"}
	if *short {
		command = append(command, "-short")
	}
	if *pattern != "" {
		command = append(command, "-run", *pattern)
	}
	var race []string
	if *detector {
		if missing := raceNeeds(ctx); missing != "" {
			fmt.Fprintf(stdout, "testing without the race detector: %s\n", missing)
		} else {
			race = []string{"-race"}
		}
	}
	// Beside each other: the root module, whose longest package leaves a processor idle, and all others.
	lanes := [2][]build{1: plain}
	for _, module := range modules {
		b, err := whole(ctx, *dir, module, plain)
		if err != nil {
			fmt.Fprintln(stderr, "testall:", err)
			return 1
		}
		if b.flags = race; len(b.packages) > 0 {
			lane := 1
			if b.dir == "." {
				lane = 0
			}
			lanes[lane] = append(lanes[lane], b)
		}
	}
	lanes[1] = append(lanes[1], also...)
	live := &together{w: stdout}
	var totals [2]*tally
	var wg sync.WaitGroup
	for i := range lanes {
		totals[i] = newTally(live)
		wg.Go(func() {
			for _, b := range lanes[i] {
				b.run(ctx, *dir, command, totals[i])
			}
		})
	}
	wg.Wait()
	totals[0].merge(totals[1])
	return finish(totals[0], *summary, stdout, stderr)
}

// whole is the build of all packages of a module but the plain ones.
func whole(ctx context.Context, root, module string, plain []build) (build, error) {
	dir, err := filepath.Rel(root, module)
	b := build{text: dir, dir: dir, packages: []string{"./..."}}
	for _, p := range plain {
		if filepath.Clean(p.dir) != dir || err != nil {
			continue
		}
		var all, left []string
		if all, err = b.list(ctx, module); err == nil {
			left, err = p.list(ctx, module)
		}
		b.packages = slices.DeleteFunc(all, func(path string) bool { return slices.Contains(left, path) })
	}
	return b, err
}

// together lets several goroutines write.
type together struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *together) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(p)
}

// finish prints the summary and says whether it is a success.
func finish(total *tally, file string, stdout, stderr io.Writer) int {
	var text bytes.Buffer
	total.print(&text)
	stdout.Write(text.Bytes())
	if file != "" {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			fmt.Fprintln(stderr, "testall:", err)
			return 1
		}
	}
	if !total.ok() {
		return 1
	}
	return 0
}

// findModules returns the directories below root that have a go.mod, but not
// those that are test data.
func findModules(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules"}, d.Name())) {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && d.Name() == "go.mod" {
			found = append(found, filepath.Dir(p))
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no go.mod below %s", root)
	}
	return found, err
}

// raceNeeds returns what the race detector lacks here, or "".
func raceNeeds(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil {
		return "go env: " + err.Error()
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 || fields[0] != "1" {
		return "CGO_ENABLED is 0 (no C compiler was found, or it was set so)"
	}
	if _, err := exec.LookPath(fields[1]); err != nil {
		return "no C compiler: " + err.Error()
	}
	return ""
}
