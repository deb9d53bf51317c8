// Command server is a chat server with three goroutines for each connection,
// after the one of study S2, and the load for it. It measures how long its own
// collector stops the world, and prints that as JSON.
//
//	server -conns 500000 -memory -seconds 60    # connections in memory, load of its own
//	server -conns 19000 -listen 127.0.0.1:7000  # waits for a client, then measures
//	server -conns 19000 -dial 127.0.0.1:7000    # is that client
//	server -listen 127.0.0.1:7000               # serves until it is interrupted
//
// It is a module of its own, with the oldest language version that is measured,
// and imports the standard library only.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

func main() {
	began := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, began, os.Args[1:], os.Stdout)
	stop()
	os.Exit(status)
}

// options are the command line.
type options struct {
	conns   int
	room    int
	rate    float64
	bytes   int
	seconds time.Duration
	settle  time.Duration
	ping    time.Duration
	gogc    int
	memory  bool
	listen  string
	dial    string
}

func run(ctx context.Context, began time.Time, args []string, stdout io.Writer) int {
	var o options
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.IntVar(&o.conns, "conns", 0, "connections to wait for, or to make; 0: serve until interrupted")
	flags.IntVar(&o.room, "room", 10, "members of a room")
	flags.Float64Var(&o.rate, "rate", 2000, "messages a second that all clients send together")
	flags.IntVar(&o.bytes, "bytes", 100, "length of a message")
	flags.DurationVar(&o.seconds, "for", 30*time.Second, "length of the measured window, or of the load")
	flags.DurationVar(&o.settle, "settle", 5*time.Second, "time under load before the window")
	flags.DurationVar(&o.ping, "ping", time.Minute, "time between two pings to a connection")
	flags.IntVar(&o.gogc, "gogc", 100, "GOGC, once all connections are there")
	flags.BoolVar(&o.memory, "memory", false, "connections in memory")
	flags.StringVar(&o.listen, "listen", "", "address to serve at")
	flags.StringVar(&o.dial, "dial", "", "address to be clients of")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	err := o.validate()
	if err == nil {
		err = o.start(ctx, began, stdout)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 1
	}
	return 0
}

func (o *options) validate() error {
	ways := 0
	for _, given := range []bool{o.memory, o.listen != "", o.dial != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return errors.New("one of -memory, -listen and -dial is needed")
	case o.conns < 0, o.room < 1, o.rate <= 0, o.bytes < 1, o.bytes > maxMessage, o.seconds <= 0, o.ping <= 0, o.gogc < 1:
		return fmt.Errorf("numbers must be positive, and -bytes at most %d", maxMessage)
	case o.conns == 0 && o.listen == "":
		return errors.New("-conns is needed")
	}
	return nil
}

func (o *options) start(ctx context.Context, began time.Time, stdout io.Writer) error {
	if o.dial != "" {
		return dial(ctx, *o, stdout)
	}
	h := newHub(*o)
	if o.memory {
		load := attach(h, *o)
		go load.drive(ctx)
		defer load.report(stdout)
	} else {
		l, err := net.Listen("tcp", o.listen)
		if err != nil {
			return err
		}
		defer l.Close()
		fmt.Fprintf(stdout, "{\"listening\":%q}\n", l.Addr())
		go h.accept(l)
	}
	if o.conns == 0 {
		<-ctx.Done()
		return nil
	}
	if err := h.await(ctx, o.conns); err != nil {
		return err
	}
	debug.SetGCPercent(o.gogc)
	r, err := measure(ctx, h, *o, began)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(struct {
		Result result `json:"result"`
	}{r})
}
