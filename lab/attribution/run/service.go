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
	"sync"
	"sync/atomic"
	"time"
)

// The service that puts a program's operations behind HTTP, and where it listens.
const (
	servePackage = "./attribution/serve"
	serveAddress = "127.0.0.1:8091"
	serveRate    = 150 // requests a second in recordings: below what two processors can do
)

// load is the shell command that loads the service while heaptrim records it.
func (j *judgement) load() string {
	return fmt.Sprintf("%s load -rate %d -for 15s http://%s/", j.config.heaptrim, serveRate, serveAddress)
}

// service runs a program as a service; its operations are requests.
type service struct{ program string }

// run starts the service, warms it up, makes the requests, and returns what the service
// used for them.
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
	if err := requests(ctx, n/2); err != nil {
		return sample{}, err
	}
	before, err := totals(ctx)
	if err != nil {
		return sample{}, err
	}
	if err := requests(ctx, n); err != nil {
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

// requests makes n requests, a few at a time.
func requests(ctx context.Context, n int) error {
	const clients = 4
	var left atomic.Int64
	left.Store(int64(n))
	failed := make(chan error, clients)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := get(ctx, "/"); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
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
