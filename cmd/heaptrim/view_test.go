package main

import (
	"bufio"
	"encoding/json"
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
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Wait()
		ts.Fatalf("no address: %v", err)
	}
	url := strings.TrimSuffix(strings.TrimSpace(line), "/")
	ask := func(path, host string) []byte {
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
		body, err := io.ReadAll(response.Body)
		ts.Check(err)
		response.Body.Close()
		fmt.Fprintln(ts.Stdout(), response.StatusCode, what, response.Header.Get("Content-Type"))
		return body
	}
	ask("/", "")
	ask("/report.json", "")
	var now struct{ Version string }
	ts.Check(json.Unmarshal(ask("/version.json", ""), &now))
	// What the page has no room for, of the recording that it was made from.
	fmt.Fprintf(ts.Stdout(), "answer %.20s\n", ask("/code.json?function=0&version="+now.Version, ""))
	ask("/code.json?function=0&version=0", "")
	ask("/bundle/../manifest.json", "")
	ask("/", "rebound.example")
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("interrupted: %v", err)
	}
}
