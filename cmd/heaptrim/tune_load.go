package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/load"
)

const loadUsage = `
Usage: heaptrim load [flags] URL

Makes HTTP/1.1 requests at a fixed rate, whatever the service does, and prints
the quantiles of their latency. A request's latency counts from when it was due,
so a service that stalls is charged with all the requests it kept waiting.
Use it as the load for check, record, prove and tune if you have no other. Hosts
other than this one need -remote.

With -storm, the middle third of the time has that many times the rate, from one
moment to the next.

Exit code 1 means that no request was answered.

Examples:
  heaptrim load -rate 2000 -for 10s http://localhost:6060/
  heaptrim load -rate 100 -storm 20 -for 30s http://localhost:6060/
`

// offerLoad lets a -load command call heaptrim load whether or not it is
// installed: what PATH has comes first.
func offerLoad() {
	self, err := os.Executable()
	if err != nil || strings.TrimSuffix(filepath.Base(self), ".exe") != "heaptrim" {
		return
	}
	// Without it, such a load says that there is no heaptrim.
	_ = os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(self))
}

func runLoad(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	rate := fs.Float64("rate", 100, "requests per second")
	window := fs.Duration("for", 10*time.Second, "`length` of the load")
	storm := fs.Float64("storm", 0, "`times` the rate in the middle third; 0 keeps the rate")
	workers := fs.Int("c", 256, "most `requests` under way at once; others wait, and their latency grows")
	timeout := fs.Duration("timeout", 10*time.Second, "of a request")
	method := fs.String("method", "", "of the requests; default: GET, or POST with -body")
	body := fs.String("body", "", "send the content of this `file`")
	remote := fs.Bool("remote", false, "allow a host that is not this machine")
	header := http.Header{}
	fs.Func("H", "add a `header`, as 'Name: value'; may be repeated", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return errors.New("want 'Name: value'")
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		return nil
	})
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	o := load.Options{Method: *method, Header: header, Workers: *workers, Timeout: *timeout, Remote: *remote}
	switch {
	case fs.NArg() != 1:
		return usagef("want one URL")
	case *storm < 0:
		return usagef("-storm cannot be negative")
	}
	o.URL = fs.Arg(0)
	o.Phases = []load.Phase{{Rate: *rate, For: *window}}
	if *storm > 0 {
		o.Phases = load.Storm(*rate, *storm, *window)
	}
	if *body != "" {
		text, err := os.ReadFile(*body)
		if err != nil {
			return err
		}
		o.Body = text
		if o.Method == "" {
			o.Method = http.MethodPost
		}
	}
	r, err := load.Run(ctx, o)
	if r == nil {
		return err
	}
	r.Text(std.out, o.Phases)
	if r.Done == 0 {
		return errors.Join(errors.New("nothing was answered"), r.Error)
	}
	return nil
}
