// Command servers records six known servers under load by heaptrim record -exec, and prints
// the first rows of what heaptrim check advises for each.
//
//	go run ./servers -heaptrim BIN -dir DIR [-only nats,etcd] [-for 15s]
//
// What is in -dir already is not made again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// lab is a run of the command.
type lab struct {
	dir      string // absolute
	heaptrim string
	length   time.Duration // of the load
	rows     int           // to print
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("servers: ")
	var l lab
	flag.StringVar(&l.dir, "dir", "", "`folder` for modules, recordings and reports, kept from run to run")
	flag.StringVar(&l.heaptrim, "heaptrim", "heaptrim", "the `binary` that records")
	flag.DurationVar(&l.length, "for", 15*time.Second, "`length` of the load")
	flag.IntVar(&l.rows, "rows", 5, "rows to print")
	only := flag.String("only", "", "`names` of servers, by commas; default: all")
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil || l.dir == "" || flag.NArg() > 0 {
		log.Print("-dir is needed; ", err)
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := l.run(ctx, chosen); err != nil {
		log.Fatal(err)
	}
}

func choose(only string) ([]server, error) {
	if only == "" {
		return servers, nil
	}
	var chosen []server
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(servers, func(s server) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no server %q", name)
		}
		chosen = append(chosen, servers[i])
	}
	return chosen, nil
}

// run goes through the servers. One that fails does not keep the next from its turn.
func (l *lab) run(ctx context.Context, chosen []server) error {
	var err error
	if l.dir, err = filepath.Abs(l.dir); err != nil {
		return err
	}
	if l.heaptrim, err = exec.LookPath(l.heaptrim); err != nil {
		return err
	}
	if l.heaptrim, err = filepath.Abs(l.heaptrim); err != nil {
		return err
	}
	if err := l.command(ctx, "", "go", "build", "-o", l.load(), "./servers/load"); err != nil {
		return err
	}
	var failed error
	for _, s := range chosen {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := l.server(ctx, s); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return failed
}

// load is the path of the program that drives the servers.
func (l *lab) load() string { return filepath.Join(l.dir, "bin", "load") }

// server records one server, reports on it and prints the first rows.
func (l *lab) server(ctx context.Context, s server) error {
	if err := l.prepare(ctx, s); err != nil {
		return err
	}
	if err := l.record(ctx, s); err != nil {
		return err
	}
	return l.report(ctx, s)
}

// command runs a command in a folder; "" is the current one. Its output goes to standard
// error, since rows alone belong to standard output.
func (l *lab) command(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args[:min(3, len(args))], " "), err)
	}
	return nil
}
