package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// client keeps a connection for each worker.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}, Timeout: 20 * time.Second}
}

// call makes a request and reads the answer to its end. An answer that is no success is an error.
func call(ctx context.Context, c *http.Client, to, body string) error {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	q, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Accept-Encoding", "gzip")
	a, err := c.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil {
		return err
	}
	if a.StatusCode >= 400 {
		return fmt.Errorf("%s: %s", to, a.Status)
	}
	return nil
}

// driveCaddy asks for a page made by a template, for a file, and for what another site answers.
func driveCaddy(ctx context.Context, address string, t *tally) error {
	c := client()
	var workers []worker
	for _, kind := range []struct {
		n          int
		name, path string
	}{{4, "pages", "/index.html?turn=%d"}, {4, "files", "/style.css?turn=%d"}, {4, "requests passed on", "/api/orders/%d"}} {
		for range kind.n {
			workers = append(workers, worker{kind.name, func(ctx context.Context, turn int) (int, error) {
				return 1, call(ctx, c, "http://"+address+fmt.Sprintf(kind.path, turn%1000), "")
			}})
		}
	}
	t.run(ctx, workers)
	return nil
}

// driveEtcd reads ranges of keys and writes keys over the JSON gateway, three reads for a write.
func driveEtcd(ctx context.Context, address string, t *tally) error {
	c := client()
	key := func(n int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "/lab/%04d", n%1000)) }
	value := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("value ", 20)))
	ask := func(ctx context.Context, path string, request any) error {
		body, err := json.Marshal(request)
		if err != nil {
			return err
		}
		return call(ctx, c, "http://"+address+"/v3/kv/"+path, string(body))
	}
	for n := range 200 {
		if err := ask(ctx, "put", map[string]string{"key": key(n), "value": value}); err != nil {
			return err
		}
	}
	var workers []worker
	for id := range 4 {
		workers = append(workers, worker{"writes", func(ctx context.Context, turn int) (int, error) {
			return 1, ask(ctx, "put", map[string]string{"key": key(turn*7 + id), "value": value})
		}})
		for range 3 {
			workers = append(workers, worker{"ranges", func(ctx context.Context, turn int) (int, error) {
				return 1, ask(ctx, "range", map[string]any{"key": key(turn % 100), "range_end": key(999), "limit": 50})
			}})
		}
	}
	t.run(ctx, workers)
	return nil
}

// drivePrometheus asks for what the server scrapes from itself.
func drivePrometheus(ctx context.Context, address string, t *tally) error {
	c := client()
	var workers []worker
	for id := range 4 {
		workers = append(workers, worker{"instant queries", func(ctx context.Context, turn int) (int, error) {
			queries := []string{`{__name__=~".+"}[1m]`, `sum by (job) (rate(prometheus_http_requests_total[30s]))`,
				`topk(10, {__name__=~"prometheus_tsdb.*"})`, `histogram_quantile(0.9, prometheus_http_request_duration_seconds_bucket)`}
			q := url.Values{"query": {queries[(turn+id)%len(queries)]}}
			return 1, call(ctx, c, "http://"+address+"/api/v1/query?"+q.Encode(), "")
		}}, worker{"range queries", func(ctx context.Context, _ int) (int, error) {
			now := time.Now()
			q := url.Values{"query": {`sum by (__name__) ({__name__=~"go_.*"})`}, "step": {"1"},
				"start": {strconv.FormatInt(now.Add(-5*time.Minute).Unix(), 10)}, "end": {strconv.FormatInt(now.Unix(), 10)}}
			return 1, call(ctx, c, "http://"+address+"/api/v1/query_range?"+q.Encode(), "")
		}})
	}
	t.run(ctx, workers)
	return nil
}
