//go:build unix

// Command run builds the chat server with several Go releases, runs it with the
// same connections and the same load, and prints how long the collector of each
// stopped the world: the history table of study S2, on today's releases.
//
//	go run ./chat/run -memory -conns 500000
//	go run ./chat/run -conns 19000
//	go run ./chat/run -conns 96000 -servers 6
//
// Run it from the folder lab, on a quiet machine. Without -memory the
// connections are real ones over the loopback device, and each server and each
// client is a process that needs a file for each of its connections.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// experiment is what all releases are put through.
type experiment struct {
	conns   int
	servers int
	memory  bool
	rate    float64
	gogc    int
	window  time.Duration
	real    bool
	dir     string // for binaries
	say     func(format string, args ...any)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var e experiment
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&e.conns, "conns", 19000, "connections, of all servers together")
	flags.IntVar(&e.servers, "servers", 1, "server processes, each with a client process; not with -memory")
	flags.BoolVar(&e.memory, "memory", false, "connections in memory instead of TCP")
	flags.Float64Var(&e.rate, "rate", 0, "messages a second that all clients send; default: 10000 in memory, 4000 over TCP")
	flags.IntVar(&e.gogc, "gogc", 10, "GOGC of the servers: small, so that there are enough collections in the window")
	flags.BoolVar(&e.real, "realtime", false, "run the servers, not the clients, by chrt with real-time priority, before all other work of the machine; needs root")
	seconds := flags.Float64("seconds", 45, "length of the measured window")
	toolchains := flags.String("toolchains", "go1.25.13,go1.26.8,go1.27.4,go1.27.4/nogreenteagc", "Go releases, each with GOEXPERIMENTs after slashes")
	rounds := flags.Int("rounds", 1, "how often each release is measured; 0 prints the file's table again")
	file := flags.String("o", "", "file that the figures are added to and read from")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	e.window = time.Duration(*seconds * float64(time.Second))
	e.say = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	err := e.validate()
	if err == nil {
		err = e.all(ctx, plan{strings.Split(*toolchains, ","), *rounds, *file}, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "run:", err)
		return 1
	}
	return 0
}

func (e *experiment) validate() error {
	if e.conns < 1 || e.servers < 1 || e.gogc < 1 || e.window <= 0 || e.rate < 0 {
		return errors.New("numbers must be positive")
	}
	if e.memory && e.servers > 1 {
		return errors.New("-memory is for one process")
	}
	if e.rate == 0 {
		e.rate = 4000
		if e.memory {
			e.rate = 10000
		}
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	// Some files are open in any process.
	if each := e.conns / e.servers; !e.memory && uint64(each)+100 > limit.Cur {
		return fmt.Errorf("%d connections a server, and %d files may be open: more -servers are needed", each, limit.Cur)
	}
	return nil
}

// plan is what is measured how often, and where the figures go.
type plan struct {
	toolchains []string
	rounds     int
	file       string
}

// all measures the releases in turn, backwards in every other round.
func (e *experiment) all(ctx context.Context, p plan, stdout io.Writer) error {
	tmp, err := os.MkdirTemp("", "chat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	e.dir = tmp
	all, err := load(p.file)
	if err != nil {
		return err
	}
	for round := range p.rounds {
		for i := range p.toolchains {
			if round%2 == 1 {
				i = len(p.toolchains) - 1 - i
			}
			m, err := e.measure(ctx, p.toolchains[i])
			if err != nil {
				return fmt.Errorf("%s: %w", p.toolchains[i], err)
			}
			if all = append(all, m); p.file != "" {
				if err := save(p.file, all); err != nil {
					return err
				}
			}
		}
	}
	return table(stdout, all)
}

func load(file string) ([]measurement, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []measurement
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return all, nil
}

func save(file string, all []measurement) error {
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// build builds the server with a release, in the module that it has for itself.
func (e *experiment) build(ctx context.Context, toolchain string) (string, error) {
	release, experiments, _ := strings.Cut(toolchain, "/")
	bin := filepath.Join(e.dir, strings.ReplaceAll(toolchain, "/", "-"))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, ".")
	cmd.Dir = filepath.Join("chat", "server")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN="+release, "GOEXPERIMENT="+strings.ReplaceAll(experiments, "/", ","))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return bin, nil
}
