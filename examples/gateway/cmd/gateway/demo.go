package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// demo is a load that the gateway puts on itself: clients that send a mix of
// requests, one after the other, until the context ends.
type demo struct {
	base    string // URL of the gateway
	token   string
	clients int
}

// run returns when every client has ended. The first request that fails for
// another reason than the end of ctx ends them all, and is the error.
func (d demo) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Connections of its own, so that none is left open to hold up the shutdown.
	connections := &http.Transport{MaxIdleConnsPerHost: d.clients}
	defer connections.CloseIdleConnections()
	client := &http.Client{Transport: connections}
	var (
		clients sync.WaitGroup
		once    sync.Once
		failure error
	)
	for i := range d.clients {
		clients.Go(func() {
			for n := i; ctx.Err() == nil; n += d.clients {
				if err := d.send(ctx, client, n); err != nil && ctx.Err() == nil {
					once.Do(func() { failure = err })
					cancel()
				}
			}
		})
	}
	clients.Wait()
	return failure
}

// send makes the nth request of the mix: of ten, four for users, two searches,
// three for orders and one new order.
func (d demo) send(ctx context.Context, client *http.Client, n int) error {
	method, path, body := "GET", "", io.Reader(nil)
	switch n % 10 {
	case 0, 1, 2, 3:
		path = fmt.Sprintf("/v1/users/u-%d", n*7%500+1)
	case 4, 5:
		path = fmt.Sprintf("/v1/products?q=copper+river&page=%d", n/10%5000)
	case 9:
		method, path = "POST", "/v1/orders"
		body = bytes.NewReader([]byte(`{"note":"ring twice","items":[{"product_id":"p-1","quantity":2},{"product_id":"p-9","quantity":1}]}`))
	default:
		path = fmt.Sprintf("/v1/orders/o-%d", n*3%1000+1)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}
