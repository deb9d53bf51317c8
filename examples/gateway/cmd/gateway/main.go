// The gateway command serves the example gateway with its fake backends.
//
//	go run ./examples/gateway/cmd/gateway -addr 127.0.0.1:8080
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/heaptrim/heaptrim/examples/gateway"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// options are the command line.
type options struct {
	addr string
	demo bool
	log  bool
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:0", "address to listen on; port 0 picks a free one, which is printed")
	flags.BoolVar(&o.demo, "demo", false, "load the gateway with requests of its own")
	flags.BoolVar(&o.log, "log", false, "write the access log to standard error")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	config := gateway.Config{Services: gateway.FakeServices(), Secret: []byte("gateway-example")}
	if o.log {
		config.AccessLog = stderr
	}
	if err := serve(ctx, o, config, stdout); err != nil {
		fmt.Fprintln(stderr, "gateway:", err)
		return 1
	}
	return 0
}

// serve prints the address and a token that the gateway accepts, so that a
// client can be pointed at it, and serves until ctx ends.
func serve(ctx context.Context, o options, config gateway.Config, stdout io.Writer) error {
	token, err := gateway.Sign(gateway.Claims{Subject: "u-1", Tenant: "demo", Scopes: []string{"read", "write"}}, config.Secret)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(stdout, "listening on %s\nAuthorization: Bearer %s\n", base, token)
	server := &http.Server{Handler: gateway.New(config), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var loadErr error
	if o.demo {
		loadErr = demo{base: base, token: token, clients: 2}.run(ctx)
	}
	if loadErr == nil {
		select {
		case err := <-served:
			return err
		case <-ctx.Done():
		}
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(loadErr, server.Shutdown(grace))
}
