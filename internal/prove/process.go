package prove

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/record/process"
)

// execution is one process to be run to its end.
type execution struct {
	sides.Program
	args  []string
	trace bool          // let the runtime log its collections, and watch the resident set
	limit time.Duration // 0: none
}

// executed is what a process left behind. What it printed stands in files, so
// that it meets no reader that wakes up beside it.
type executed struct {
	stdout, stderr string // files, until the next execution
	wall, cpu      time.Duration
	rss            int64 // largest resident set; 0 when not known
	timedOut       bool
}

// execute runs a process. An error says how it ended if that was not well.
func (e *engine) execute(ctx context.Context, x execution) (executed, error) {
	r := executed{stdout: filepath.Join(e.tmp, "stdout"), stderr: filepath.Join(e.tmp, "stderr")}
	stdout, err := os.Create(r.stdout)
	if err != nil {
		return r, err
	}
	defer stdout.Close()
	stderr, err := os.Create(r.stderr)
	if err != nil {
		return r, err
	}
	defer stderr.Close()
	limited := ctx
	if x.limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, x.limit)
		defer cancel()
	}
	cmd := exec.CommandContext(limited, x.Path, x.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = x.Dir, stdout, stderr
	cmd.Env = append(append(os.Environ(), x.Env...), "PWD="+x.Dir)
	if x.trace {
		cmd.Env = append(cmd.Env, "GODEBUG="+x.Debug("gctrace=1"))
	}
	cmd.WaitDelay = 2 * time.Second
	start := time.Now()
	peak := func() int64 { return 0 }
	err = process.Run(cmd, func(p *os.Process) {
		if x.trace {
			peak = watchRSS(p.Pid)
		}
	})
	r.wall, r.rss = time.Since(start), peak()
	if cmd.ProcessState == nil {
		return r, err
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case limited.Err() != nil:
		r.timedOut = true
		return r, fmt.Errorf("did not end within %v", x.limit)
	}
	return r, err
}

// watchRSS follows the largest resident set of a process; the function that it
// returns ends that and says what it was, 0 when not known. What the kernel
// says after the end of a child will not do on Linux: it counts the parent's
// memory, which the child had before it became another program.
func watchRSS(pid int) func() int64 {
	const every = 2 * time.Millisecond
	if runtime.GOOS != "linux" {
		return func() int64 { return 0 }
	}
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		status := fmt.Sprintf("/proc/%d/status", pid)
		tick := time.NewTicker(every)
		defer tick.Stop()
		var most int64
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-tick.C:
				most = max(most, highWater(status))
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-peak
	}
}

func highWater(status string) int64 {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
		return kib << 10
	}
	return 0
}

// failureText is the telling part of what a failed process printed: package
// testing reports on standard output, a crash on standard error.
func failureText(r executed, err error) string {
	var telling []string
	for _, file := range []string{r.stdout, r.stderr} {
		for l := range strings.Lines(readEnd(file)) {
			l = strings.TrimSpace(l)
			dull := l == "" || l == "FAIL" || l == "PASS" || strings.HasPrefix(l, "Benchmark") || strings.HasPrefix(l, "---") ||
				strings.HasPrefix(l, "gc ") || strings.HasPrefix(l, "exit status")
			for _, heading := range []string{"goos:", "goarch:", "pkg:", "cpu:"} {
				dull = dull || strings.HasPrefix(l, heading)
			}
			if !dull {
				telling = append(telling, l)
			}
		}
	}
	switch {
	case len(telling) > 0 && err != nil:
		why := tellingOf(telling, r.stdout == "")
		if !tellsCrash(why) {
			// The stacks of all goroutines may be longer than the end that was read.
			why = cmp.Or(crashIn(r.stderr), why)
		}
		return why + " (" + err.Error() + ")"
	case err != nil:
		return err.Error()
	}
	return "no result"
}

// noResult says what a process printed that ended well and gave no result. Package testing takes no notice of output
// that cannot be written.
func noResult(r executed) string {
	if info, err := os.Stat(r.stdout); err == nil && info.Size() == 0 {
		return fmt.Sprintf("printed nothing: a TestMain runs no benchmarks, or there is no room left in %s", filepath.Dir(r.stdout))
	}
	if text := failureText(r, nil); text != "no result" {
		return "printed no result: " + text
	}
	return "printed no result"
}

// tellingOf picks the line that says why a process failed: a crash, or else the
// first of what package testing reports and the last of what a server logs.
func tellingOf(lines []string, server bool) string {
	for _, l := range lines {
		if tellsCrash(l) {
			return l
		}
	}
	if server {
		return lines[len(lines)-1]
	}
	return lines[0]
}

func tellsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "runtime: ")
}

// crashIn is the last line of a file that tells of a crash, "" if there is none.
// It holds one line at a time, and of that no more than the beginning.
func crashIn(file string) (found string) {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for begins := true; ; {
		part, err := r.ReadSlice('\n')
		if line := string(part[:min(len(part), 1000)]); begins && tellsCrash(line) {
			found = strings.TrimSpace(line)
		}
		begins = err == nil // or the line goes on
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return found
		}
	}
}

// readEnd is the last part of a file, enough for a stack or a few lines.
func readEnd(file string) string {
	const most = 64 << 10
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		// An error shows in the read.
		_, _ = f.Seek(max(0, size-most), io.SeekStart)
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return string(data)
}
