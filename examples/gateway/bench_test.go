package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sink is a ResponseWriter that throws the body away and can be used again.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// bench sends requests to a gateway one after the other.
type bench struct {
	*testGateway
	sink sink
	body bytes.Reader
}

func newBench(b *testing.B) *bench {
	b.ReportAllocs()
	return &bench{
		testGateway: newTestGateway(b, Config{AccessLog: io.Discard, RatePerSecond: 1e9, Burst: 1e9}),
		sink:        sink{header: make(http.Header)},
	}
}

// requests makes n requests whose target is made from format and a number.
func (s *bench) requests(b *testing.B, n int, format string) []*http.Request {
	list := make([]*http.Request, n)
	for i := range list {
		r, err := http.NewRequest("GET", fmt.Sprintf(format, i+1), nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header, r.RemoteAddr = s.header, "192.0.2.1:1234"
		list[i] = r
	}
	return list
}

// serve sends r and fails the benchmark on another status than want.
func (s *bench) serve(b *testing.B, r *http.Request, want int) {
	clear(s.sink.header)
	s.sink.status = http.StatusOK
	s.ServeHTTP(&s.sink, r)
	if s.sink.status != want {
		b.Fatalf("%s %s = %d, want %d", r.Method, r.URL, s.sink.status, want)
	}
}

// BenchmarkUserCached answers from a warm cache.
func BenchmarkUserCached(b *testing.B) {
	s := newBench(b)
	list := s.requests(b, 100, "/v1/users/u-%d")
	for _, r := range list {
		s.serve(b, r, 200)
	}
	i := 0
	for b.Loop() {
		s.serve(b, list[i%len(list)], 200)
		i++
	}
}

// BenchmarkSearch looks for products with a different query each time, so that
// the cache fills up and turns over.
func BenchmarkSearch(b *testing.B) {
	s := newBench(b)
	list := s.requests(b, 10_000, "/v1/products?q=copper+river&page=%d")
	i := 0
	for b.Loop() {
		s.serve(b, list[i%len(list)], 200)
		i++
	}
}

// BenchmarkOrder joins an order with its user and products.
func BenchmarkOrder(b *testing.B) {
	s := newBench(b)
	list := s.requests(b, 1000, "/v1/orders/o-%d")
	i := 0
	for b.Loop() {
		s.serve(b, list[i%len(list)], 200)
		i++
	}
}

// BenchmarkOrderGzip does the same for a client that accepts compressed
// answers.
func BenchmarkOrderGzip(b *testing.B) {
	s := newBench(b)
	s.header.Set("Accept-Encoding", "gzip")
	list := s.requests(b, 1000, "/v1/orders/o-%d")
	i := 0
	for b.Loop() {
		s.serve(b, list[i%len(list)], 200)
		i++
	}
}

// BenchmarkCreateOrder decodes, checks and forwards an order of eight items.
func BenchmarkCreateOrder(b *testing.B) {
	s := newBench(b)
	var items []string
	for i := range 8 {
		items = append(items, fmt.Sprintf(`{"product_id":"p-%d","quantity":%d}`, i+1, i+1))
	}
	body := []byte(`{"note":"ring twice","items":[` + strings.Join(items, ",") + `]}`)
	r := s.requests(b, 1, "/v1/orders?n=%d")[0]
	r.Method, r.Body = "POST", io.NopCloser(&s.body)
	for b.Loop() {
		s.body.Reset(body)
		s.serve(b, r, 201)
	}
}

// BenchmarkMetrics writes the metrics of a gateway that has answered with a
// dozen different statuses.
func BenchmarkMetrics(b *testing.B) {
	s := newBench(b)
	for i := range 12 {
		s.metrics.observe("user", "GET", 200+i, time.Duration(i)*time.Millisecond)
	}
	r := s.requests(b, 1, "/metrics?n=%d")[0]
	for b.Loop() {
		s.serve(b, r, 200)
	}
}
