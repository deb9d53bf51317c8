package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptServed runs a command that prints an address, asks there for what a
// viewer and what an intruder would ask for, prints the answers, and interrupts
// it, which it must take as its end.
func scriptServed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: served command args...")
	}
	cmd := exec.Command(args[0], args[1:]...)
	if path, err := exec.LookPath(args[0]); err == nil {
		cmd.Path = path
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GOCACHE", "GOMODCACHE", "GOFLAGS", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stderr = ts.Stderr()
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Wait()
		ts.Fatalf("no address: %v", err)
	}
	url := strings.TrimSuffix(strings.TrimSpace(line), "/")
	ask := func(path, host string) {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		ts.Check(err)
		r.URL.Opaque = path // as it is, without the cleaning of a well-meant client
		what := path
		if host != "" {
			r.Host = host
			what += " of " + host
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		ts.Check(err)
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		fmt.Fprintln(ts.Stdout(), response.StatusCode, what, response.Header.Get("Content-Type"))
	}
	ask("/", "")
	ask("/report.json", "")
	ask("/version.json", "")
	ask("/bundle/../manifest.json", "")
	ask("/", "rebound.example")
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("interrupted: %v", err)
	}
}
