//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// measurement is what one release did, one element for each server process.
type measurement struct {
	Toolchain string        `json:"toolchain"`
	Memory    bool          `json:"memory"`
	Realtime  bool          `json:"realtime"`
	GOGC      int           `json:"gogc"`
	Rate      float64       `json:"rate"`
	Window    time.Duration `json:"window_ns"`
	Load1     string        `json:"load_average"` // of the machine when it began
	Servers   []server      `json:"servers"`
}

// server is what one process measured of itself, and its log of collections.
type server struct {
	Result result  `json:"result"`
	Log    []cycle `json:"log"` // in the window
}

// result has the figures that the table is made of, as the server writes them.
type result struct {
	Go         string  `json:"go"`
	Conns      int64   `json:"conns"`
	Goroutines uint64  `json:"goroutines"`
	From       float64 `json:"from_s"`
	To         float64 `json:"to_s"`
	Cycles     uint64  `json:"cycles"`
	Pauses     []bin   `json:"pauses"`
	Stopping   []bin   `json:"stopping"`
	Waiting    []bin   `json:"waiting"`
	GCCPU      float64 `json:"gc_cpu_s"`
	AssistCPU  float64 `json:"assist_cpu_s"`
	IdleCPU    float64 `json:"gc_idle_cpu_s"`
	CPU        float64 `json:"cpu_s"`
	Procs      int     `json:"procs"`
	RunDelay   float64 `json:"run_delay_s"`
	Live       uint64  `json:"live_bytes"`
	Stacks     uint64  `json:"stack_bytes"`
	Scanned    uint64  `json:"stack_scan_bytes"`
	Resident   int64   `json:"rss_bytes"`
	Alloc      uint64  `json:"alloc_bytes"`
	Sent       int64   `json:"sent"`
	Delivered  int64   `json:"delivered"`
	Dropped    int64   `json:"dropped"`
	Latency    []bin   `json:"latency"`
	Max        float64 `json:"latency_max_s"`
}

type bin struct {
	Upto  float64 `json:"le"`
	Count uint64  `json:"n"`
}

// measure runs the servers of one release, and their clients.
func (e *experiment) measure(ctx context.Context, toolchain string) (measurement, error) {
	m := measurement{Toolchain: toolchain, Memory: e.memory, Realtime: e.real, GOGC: e.gogc, Rate: e.rate, Window: e.window, Load1: loadAverage()}
	e.say("%s: building", toolchain)
	bin, err := e.build(ctx, toolchain)
	if err != nil {
		return m, err
	}
	// A server that has measured ends; so must the others when one fails.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.say("%s: measuring, load average %s", toolchain, m.Load1)
	m.Servers = make([]server, e.servers)
	errs := make([]error, e.servers)
	var running sync.WaitGroup
	for i := range e.servers {
		running.Go(func() {
			if m.Servers[i], errs[i] = e.serve(ctx, bin, e.share(i)); errs[i] != nil {
				cancel()
			}
		})
	}
	running.Wait()
	return m, errors.Join(errs...)
}

// share is the number of connections of the ith server.
func (e *experiment) share(i int) int {
	return e.conns*(i+1)/e.servers - e.conns*i/e.servers
}

// serve runs one server until it has measured, with its client.
func (e *experiment) serve(ctx context.Context, bin string, conns int) (server, error) {
	args := []string{"-conns", fmt.Sprint(conns), "-rate", fmt.Sprint(e.rate / float64(e.servers)), "-for", e.window.String(), "-gogc", fmt.Sprint(e.gogc)}
	where := []string{"-listen", "127.0.0.1:0"}
	if e.memory {
		where = []string{"-memory"}
	}
	cmd := exec.CommandContext(ctx, bin, append(where, args...)...)
	if e.real {
		cmd = exec.CommandContext(ctx, "chrt", append([]string{"--rr", "1", bin}, cmd.Args[1:]...)...)
	}
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1", "GOGC=100", "GOMEMLIMIT=off")
	log := &strings.Builder{}
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return server{}, err
	}
	if err := cmd.Start(); err != nil {
		return server{}, err
	}
	said, readErr := e.follow(ctx, bin, args, stdout)
	if err := errors.Join(cmd.Wait(), readErr); err != nil {
		return server{}, fmt.Errorf("%w: %s", err, lastLine(log.String()))
	}
	if said.Result == nil {
		return server{}, errors.New("the server ended without a result")
	}
	s := server{Result: *said.Result}
	for _, c := range cycles(log.String()) {
		if c.At >= s.Result.From && c.At <= s.Result.To {
			s.Log = append(s.Log, c)
		}
	}
	return s, nil
}

// said is what a server prints, a JSON object in a line.
type said struct {
	Listening string  `json:"listening"`
	Result    *result `json:"result"`
}

// follow reads what a server prints to the end, and starts its client when it
// says where it listens.
func (e *experiment) follow(ctx context.Context, bin string, args []string, stdout io.Reader) (last said, err error) {
	var client sync.WaitGroup
	defer client.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s said
		if json.Unmarshal(lines.Bytes(), &s) != nil {
			continue // its load speaks too
		}
		if s.Result != nil {
			last = s
		}
		if s.Listening == "" {
			continue
		}
		// The last -for counts: the client lasts until the server ends.
		cmd := exec.CommandContext(ctx, bin, append([]string{"-dial", s.Listening}, append(args, "-for", "1h")...)...)
		cmd.Env = append(os.Environ(), "GOGC=400")
		if err := cmd.Start(); err != nil {
			return last, err
		}
		client.Go(func() { cmd.Wait() }) // how it ends is of no matter: without it, the server says nothing
	}
	return last, lines.Err()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
