package hands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/process"
)

// Program is the outside program.
type Program struct {
	Command   string        // a line for the user's shell
	Time      time.Duration // it may take; 0 means two minutes
	Processes int           // it may have at a time; 0 means 64
	Env       []string      // names of variables that it gets beside those that every Go tool needs
}

// Limits with their defaults.
func (p Program) Limits() Program {
	if p.Time == 0 {
		p.Time = 2 * time.Minute
	}
	if p.Processes == 0 {
		p.Processes = 64
	}
	return p
}

// ErrFailed means that the program ended with an error, or was ended.
var ErrFailed = errors.New("the program failed")

// mostSaid limits what is kept of what the program prints.
const mostSaid = 64 << 10

// Run runs the program in the copy, with a brief on its standard input. It returns the end of what it
// printed. home is an empty folder for what the program writes elsewhere.
func (c *Copy) Run(ctx context.Context, p Program, brief []byte, home string) (string, error) {
	p = p.Limits()
	cmd := process.Shell(p.Command)
	cmd.Dir = c.Dir
	cmd.Env = environment(p.Env, c.Dir, home)
	cmd.Stdin = bytes.NewReader(brief)
	said := &process.Tail{Most: mostSaid}
	cmd.Stdout, cmd.Stderr = said, said
	run, err := process.Start(cmd, nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFailed, err)
	}
	late := time.NewTimer(p.Time)
	defer late.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-run.Done:
			err, ended = run.Failure(), true
		case <-late.C:
			err, ended = fmt.Errorf("it took more than %v", p.Time), true
		case <-ctx.Done():
			err, ended = ctx.Err(), true
		case <-tick.C:
			if n := run.Family(); n > p.Processes {
				err, ended = fmt.Errorf("it had %d processes, more than %d", n, p.Processes), true
			}
		}
	}
	run.KillFamily()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return string(said.Bytes()), err
}

// environment is what the program gets: where programs are, the caches of the go command, and the variables
// that the user names. What else this process has is not handed on.
func environment(names []string, dir, home string) []string {
	env := []string{process.Mark + "=" + filepath.Base(home), "HOME=" + home, "TMPDIR=" + home, "PWD=" + dir, "GOFLAGS=" + os.Getenv("GOFLAGS")}
	for _, name := range append([]string{"PATH", "LANG", "LC_ALL", "TZ", "GOROOT", "GOTOOLCHAIN", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOPRIVATE",
		"CGO_ENABLED", "CC", "SystemRoot", "USERPROFILE"}, names...) {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	cache, err := os.UserCacheDir()
	for name, otherwise := range map[string]string{"GOCACHE": filepath.Join(cache, "go-build"), "GOMODCACHE": modules()} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		} else if err == nil && otherwise != "" {
			env = append(env, name+"="+otherwise)
		}
	}
	return env
}

// modules is where the go command keeps modules unless it is told otherwise.
func modules() string {
	path := os.Getenv("GOPATH")
	if path == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		path = filepath.Join(user, "go")
	}
	return filepath.Join(filepath.SplitList(path)[0], "pkg", "mod")
}
