package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Await waits until a GET of url answers with any status below 500: a 404 or a login
// page counts as ready. It fails when the process or ctx ends, or after the timeout.
func (p *Process) Await(ctx context.Context, url string, timeout time.Duration) error {
	var last error
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := p.WaitFor(waiting, 100*time.Millisecond, func() bool {
		last = answers(waiting, client, url)
		return last == nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not ready after %v: %w", timeout, last)
	}
	return err
}

func answers(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}
