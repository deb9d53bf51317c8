package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/rogpeppe/go-internal/goproxytest"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heaptrim": main})
}

// TestScript runs testdata/script/*.txtar. Beside testscript's own commands
// they have:
//
//	status N command...     run a command that must exit with status N
//	json FILE PATH REGEXP   the value at PATH (a.0.b) of a JSON file matches
//	samples FILE REGEXP     a function on a stack of a pprof profile matches
//	wait-for FILE           wait until a background command has written FILE
//	truncate PATTERN N      keep the first N bytes of every file that matches
//	env-from NAME FILE      set the variable NAME to what FILE holds
//	served command...       ask a command that serves, then interrupt it
//
// the conditions [toolchain:VERSION], which holds where that Go release is there,
// and [perf], which holds where Linux's perf can record; and, in $REPO, the repository's root,
// and in $ADDRESS one that a server can listen on.
func TestScript(t *testing.T) {
	env, err := goEnvironment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := plainBuild(t)
	if err != nil {
		t.Fatal(err)
	}
	var addresses atomic.Int64
	p := testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			address, err := freeAddress(&addresses)
			e.Vars = append(append(e.Vars, env...), "ADDRESS="+address, "XDG_CACHE_HOME="+filepath.Join(e.WorkDir, ".cache"))
			if ofSource.MatchString(filepath.Base(e.WorkDir)) {
				e.Setenv("PATH", plain+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   scriptStatus,
			"json":     scriptJSON,
			"samples":  scriptSamples,
			"wait-for": scriptWaitFor,
			"truncate": scriptTruncate,
			"env-from": scriptEnvFrom,
			"served":   scriptServed,
		},
		Condition:          scriptCondition,
		RequireUniqueNames: true,
	}
	// What a script has in .gomodproxy, its go command can download.
	goproxytest.Setup(&p)
	testscript.Run(t, p)
}

// ofSource matches the scripts whose time goes into reading and judging source, which
// one goroutine does. With the race detector the command takes twice as long for it, so
// they run it without; the packages that it is made of have their own tests with it.
var ofSource = regexp.MustCompile(`^script-(cures|examples|explain|fix|guard|idioms|life|packages|verify|workspace)`)

// plainBuild builds the command as users do, into a folder that it returns.
func plainBuild(t *testing.T) (dir string, err error) {
	dir = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+string(os.PathSeparator), ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
}

// freeAddress is one of this machine that nobody listens on, other for each call:
// scripts run beside each other. It is below the ports that systems give to whoever
// asks for any: one of these may be another's when the script comes to use it.
func freeAddress(calls *atomic.Int64) (address string, err error) {
	for range 100 {
		var l net.Listener
		port := 20_000 + (int64(os.Getpid())*101+calls.Add(1))%10_000
		if l, err = net.Listen("tcp", fmt.Sprintf("localhost:%d", port)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}

// goEnvironment lets the go command of a script work in its own home: with the
// build cache of this run, and without the network.
func goEnvironment(ctx context.Context) ([]string, error) {
	env := []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=", "GOGC=", "GODEBUG=", "NO_COLOR="}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	env = append(env, "REPO="+root)
	// The releases in the module cache are checked by what the user's go command knows
	// of the checksum database: GOPATH holds that.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOSUMDB", "GONOSUMDB"} {
		out, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("go env %s: %w", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return env, nil
}

// scriptCondition knows which Go releases can be used without the network, and
// whether perf may record.
func scriptCondition(cond string) (bool, error) {
	if cond == "perf" {
		return exec.Command("perf", "record", "-e", "cpu-clock", "-g", "-o", os.DevNull, "true").Run() == nil, nil
	}
	version, ok := strings.CutPrefix(cond, "toolchain:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	// It asks as a script does: the go command looks for a release in the module cache,
	// and for its checksum in the home, where the user's may have what a script's has not.
	env, err := goEnvironment(context.Background())
	if err != nil {
		return false, err
	}
	cmd := exec.Command("go", "env", "GOVERSION")
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME=/no-home", "GOTOOLCHAIN="+version)
	out, err := cmd.Output()
	return err == nil && strings.TrimSpace(string(out)) == version, nil
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH REGEXP")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				ts.Fatalf("%s: nothing at %q of %s", args[0], key, args[1])
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				ts.Fatalf("%s: no element %q of %s, there are %d", args[0], key, args[1], len(at))
			}
			v = at[i]
		default:
			ts.Fatalf("%s: %q of %s is in no object", args[0], key, args[1])
		}
	}
	if text := fmt.Sprint(v); regexp.MustCompile(args[2]).MatchString(text) == neg {
		ts.Fatalf("%s: %s is %s; match with %s must be %v", args[0], args[1], text, args[2], !neg)
	}
}

func scriptSamples(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: samples FILE REGEXP")
	}
	p, err := profile.ParseData([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	want := regexp.MustCompile(args[1])
	found := slices.ContainsFunc(p.Sample, func(s *profile.Sample) bool {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if want.MatchString(line.Function.Name) {
					return true
				}
			}
		}
		return false
	})
	if found == neg {
		ts.Fatalf("%s: a function on a stack matches %s: %v", args[0], args[1], found)
	}
}

func scriptWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: wait-for FILE")
	}
	// Polling: nothing else works on every system for a file of another process.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && len(data) > 0 {
			return
		}
	}
	ts.Fatalf("%s was not written within %v", args[0], patience)
}

// patience is for what happens for sure: a machine may be busy, or stand still.
const patience = 10 * time.Minute

func scriptTruncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate PATTERN N")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no file matches %s", args[0])
	}
	for _, f := range files {
		ts.Check(os.Truncate(f, n))
	}
}

func scriptEnvFrom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: env-from NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// TestExamplesAreScripted holds the help texts against the scripts: every
// example must be run by one, word for word but for flags that make it quick, certain or
// patient.
func TestExamplesAreScripted(t *testing.T) {
	scripted := make(map[string]bool)
	quick := regexp.MustCompile(` -(?:(?:C|bench|budget|benchtime|for|pairs|timeout|times|trace|try-for|verify) \S+|race=false)`)
	command := regexp.MustCompile(`(?m)^(?:exec|served|status \d) (heaptrim .*)$`)
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts: %q, %v", scripts, err)
	}
	for _, file := range scripts {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(data), -1) {
			scripted[strings.ReplaceAll(quick.ReplaceAllString(m[1], ""), "$ADDRESS", "localhost:6060")] = true
		}
	}
	for _, c := range commands() {
		_, examples, ok := strings.Cut(c.usage, "\nExample")
		if !ok {
			t.Errorf("heaptrim %s -h has no example", c.name)
		}
		for line := range strings.Lines(examples) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "heaptrim ") && !scripted[quick.ReplaceAllString(line, "")] {
				t.Errorf("the example %q of heaptrim %s -h is run by no script", line, c.name)
			}
		}
	}
}
