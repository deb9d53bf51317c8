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
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until it is interrupted. It prints the address and a token that
// the gateway accepts, so that a client can be pointed at it.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8080", "address to listen on")
	logging := flags.Bool("log", false, "write the access log to standard error")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	config := gateway.Config{Services: gateway.FakeServices(), Secret: []byte("gateway-example")}
	if *logging {
		config.AccessLog = stderr
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *addr, config, stdout); err != nil {
		fmt.Fprintln(stderr, "gateway:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, addr string, config gateway.Config, stdout io.Writer) error {
	token, err := gateway.Sign(gateway.Claims{Subject: "u-1", Tenant: "demo", Scopes: []string{"read", "write"}}, config.Secret)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on http://%s\nAuthorization: Bearer %s\n", listener.Addr(), token)
	server := &http.Server{Handler: gateway.New(config), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return err
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
