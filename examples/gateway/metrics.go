package gateway

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"
)

// series counts the requests of one route, method and status. Bucket i counts
// those that took less than 1<<i microseconds.
type series struct {
	labels  string
	count   int64
	sum     time.Duration
	max     time.Duration
	buckets [24]int64
	recent  [16]time.Duration // the latest durations, as a ring
}

// metrics holds every series by its labels.
type metrics struct {
	mu     sync.Mutex
	series map[string]*series
}

func newMetrics() *metrics { return &metrics{series: make(map[string]*series)} }

// observe counts one request.
func (m *metrics) observe(route, method string, status int, took time.Duration) {
	labels := fmt.Sprintf(`route="%s",method="%s",status="%d"`, route, method, status)
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.series[labels]
	if !ok {
		s = &series{labels: labels}
		m.series[labels] = s
	}
	s.recent[s.count%int64(len(s.recent))] = took
	s.count++
	s.sum += took
	s.max = max(s.max, took)
	for i := range s.buckets {
		if took < time.Microsecond<<i {
			s.buckets[i]++
		}
	}
}

// snapshot returns a copy of every series, sorted by labels, so that the text
// can be written without the lock.
func (m *metrics) snapshot() []*series {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*series
	for _, s := range m.series {
		copied := *s
		out = append(out, &copied)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].labels < out[j].labels })
	return out
}

// text returns the metrics in the Prometheus text format.
func (m *metrics) text() string {
	var lines []string
	for _, s := range m.snapshot() {
		lines = append(lines, fmt.Sprintf("gateway_requests_total{%s} %d", s.labels, s.count))
		lines = append(lines, fmt.Sprintf("gateway_request_seconds_sum{%s} %g", s.labels, s.sum.Seconds()))
		lines = append(lines, fmt.Sprintf("gateway_request_seconds_max{%s} %g", s.labels, s.max.Seconds()))
		for i, n := range s.buckets {
			le := (time.Microsecond << i).Seconds()
			lines = append(lines, fmt.Sprintf("gateway_request_seconds_bucket{%s,le=\"%g\"} %d", s.labels, le, n))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (g *Gateway) showMetrics(w http.ResponseWriter, _ *request) {
	text := g.metrics.text()
	text += fmt.Sprintf("gateway_cache_entries %d\n", g.cache.len())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	w.Write([]byte(text))
}
