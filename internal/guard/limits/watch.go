package limits

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// slice is a part of the window.
type slice struct{ bytes, seconds, requests float64 }

// parts is how many slices a window has: their figures differ, and that is the uncertainty.
const parts = 8

// watch reads the counters of the service at the ends of slices. Readings that fail are left out.
func watch(ctx context.Context, o Options) []slice {
	tick := time.NewTicker(max(o.For/parts, time.Millisecond))
	defer tick.Stop()
	var out []slice
	before, ok := read(ctx, o)
	for range parts {
		select {
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
		now, fine := read(ctx, o)
		if ok && fine {
			out = append(out, slice{now.bytes - before.bytes, now.at.Sub(before.at).Seconds(), now.requests - before.requests})
		}
		if fine {
			before, ok = now, true
		}
	}
	return out
}

type reading struct {
	bytes, requests float64
	at              time.Time
}

func read(ctx context.Context, o Options) (reading, bool) {
	base := strings.TrimSuffix(strings.TrimSuffix(o.URL, "/"), "/debug/pprof")
	text, err := get(ctx, base+"/debug/pprof/heap?debug=1")
	if err != nil {
		return reading{}, false
	}
	r := reading{at: time.Now()}
	m, err := metrics.ReadMemStats(base, bytes.NewReader(text))
	if err != nil {
		return r, false
	}
	r.bytes = float64(m.TotalAlloc)
	if o.File.Requests.URL == "" {
		return r, true
	}
	text, err = get(ctx, o.File.Requests.URL)
	if err == nil {
		r.requests, err = Count(o.File.Requests.Name, text)
	}
	return r, err == nil
}

// most is how much of an answer is read.
const most = 64 << 20

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, most))
}

// Count reads a counter from metrics in the text format of Prometheus, where those of all labels are
// added up, or from a JSON object.
func Count(name string, text []byte) (float64, error) {
	if t := bytes.TrimSpace(text); len(t) > 0 && t[0] == '{' {
		var all map[string]any
		if err := json.Unmarshal(t, &all); err != nil {
			return 0, err
		}
		if v, ok := all[name].(float64); ok {
			return v, nil
		}
		return 0, fmt.Errorf("no number %s", name)
	}
	sum, found := 0.0, false
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			rest = rest[i+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		v, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		return 0, fmt.Errorf("no counter %s", name)
	}
	return sum, lines.Err()
}

// ratio is the median over slices of bytes divided by something, with its interval.
func ratio(all []slice, by func(slice) float64) (stats.Interval, string) {
	var values []float64
	for _, s := range all {
		if d := by(s); d > 0 && s.bytes >= 0 {
			values = append(values, s.bytes/d)
		}
	}
	if len(values) < parts/2 {
		return stats.Interval{}, "the counters could be read, and went up, in too few parts of the window"
	}
	return stats.Median(values), ""
}
