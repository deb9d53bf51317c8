package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The service that puts a program's operations behind HTTP, where it listens, and the load on
// it: the same when it is measured and when it is recorded.
const (
	servePackage = "./attribution/serve"
	serveAddress = "127.0.0.1:8091"
	serveRate    = 400 // requests a second: below what two processors can do
)

// load is the command that loads the service.
func (c *config) load(length time.Duration) []string {
	return []string{c.heaptrim, "load", "-rate", strconv.Itoa(serveRate), "-for", length.String(), "http://" + serveAddress + "/"}
}

// service runs a program as a service; its operations are requests.
type service struct {
	*config
	program string
}

// run starts the service, warms it up, makes benchtime requests at the rate of the load, and
// returns what the service used for them.
func (s service) run(ctx context.Context, bin, benchtime string) (sample, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(benchtime, "x"))
	if err != nil {
		return sample{}, fmt.Errorf("requests %q: %w", benchtime, err)
	}
	cmd := exec.CommandContext(ctx, bin, "-addr", serveAddress, s.program)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if err := ready(ctx); err != nil {
		return sample{}, err
	}
	length := time.Duration(n) * time.Second / serveRate
	if err := s.requests(ctx, length/4); err != nil {
		return sample{}, err
	}
	before, err := totals(ctx)
	if err != nil {
		return sample{}, err
	}
	if err := s.requests(ctx, length); err != nil {
		return sample{}, err
	}
	after, err := totals(ctx)
	if err != nil {
		return sample{}, err
	}
	return sample{
		Ops: n, CPU: after.CPU - before.CPU, Idle: after.Idle - before.Idle, GC: after.GC - before.GC,
		Cycles: after.Cycles - before.Cycles,
	}, nil
}

func (s service) requests(ctx context.Context, length time.Duration) error {
	args := s.load(length)
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, out)
	}
	return nil
}

// ready waits until the service answers.
func ready(ctx context.Context) error {
	for range 300 {
		if _, err := totals(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("the service does not answer")
}

// totals asks the service for what it used so far.
func totals(ctx context.Context) (sample, error) {
	text, err := get(ctx, "/totals")
	if err != nil {
		return sample{}, err
	}
	return parseBench("BenchmarkWork 1 " + text)
}

func get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+serveAddress+path, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return string(text), err
}
