//go:build unix

package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ended waits until a process is gone; it gives up after a minute.
func ended(pid int) bool {
	for range 600 {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

// zombie reports whether a process has ended, and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}

// pidOf reads the first line of a program's output, a process ID.
func pidOf(t *testing.T, text string) int {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		t.Fatalf("no process ID in %q: %v", text, err)
	}
	return pid
}

// TestRunEndsTheGroup: what a program leaves running ends with it, also when all went well.
func TestRunEndsTheGroup(t *testing.T) {
	out := &Tail{Most: 1 << 10}
	cmd := exec.Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
	cmd.Stdout = out
	if err := Run(cmd, nil); err != nil {
		t.Fatal(err)
	}
	if pid := pidOf(t, string(out.Bytes())); !ended(pid) {
		t.Errorf("process %d still runs", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestRunCancelled: the end of the context ends the whole group.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from, to := io.Pipe()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 1000 & echo $!; wait")
	cmd.Stdout = to
	line := make(chan string, 1)
	go func() {
		buf := make([]byte, 64)
		n, _ := from.Read(buf)
		line <- string(buf[:n])
		cancel()
		io.Copy(io.Discard, from)
	}()
	if err := Run(cmd, nil); err == nil {
		t.Error("no error of a program that was ended")
	}
	if pid := pidOf(t, <-line); !ended(pid) {
		t.Errorf("process %d still runs", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// parentVariable makes the test binary a program that runs a child and waits.
const parentVariable = "HEAPTRIM_TEST_PARENT"

// TestRunDiesWithUs: a program does not outlive a heaptrim that is killed.
func TestRunDiesWithUs(t *testing.T) {
	if os.Getenv(parentVariable) != "" {
		cmd := exec.Command("sh", "-c", "echo $$; exec sleep 1000")
		cmd.Stdout = os.Stdout
		Run(cmd, nil)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestRunDiesWithUs$")
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := out.Read(buf)
	parent.Process.Kill()
	go io.Copy(io.Discard, out)
	parent.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if pid := pidOf(t, string(buf[:n])); !ended(pid) {
		t.Errorf("process %d still runs", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
