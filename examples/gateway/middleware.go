package gateway

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// handlerFunc is a handler that knows the gateway's view of a request.
type handlerFunc func(http.ResponseWriter, *request)

// compressAbove is the size in bytes from which an answer is compressed: below
// it the gzip header and the CPU time outweigh what the network saves.
const compressAbove = 2048

// capture is a ResponseWriter that keeps the answer instead of sending it.
type capture struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newCapture() *capture {
	return &capture{header: make(http.Header), status: http.StatusOK}
}

func (c *capture) Header() http.Header         { return c.header }
func (c *capture) WriteHeader(status int)      { c.status = status }
func (c *capture) Write(p []byte) (int, error) { return c.body.Write(p) }

// withObservation logs and counts every request.
func (g *Gateway) withObservation(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *request) {
		start := g.config.Now()
		rec := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		next(rec, r)
		elapsed := g.config.Now().Sub(start)
		g.metrics.observe(r.route.name, r.Method, rec.status, elapsed)
		user := "-"
		if r.claims != nil {
			user = r.claims.Subject
		}
		g.log.print("request",
			"method", r.Method,
			"path", r.URL.Path,
			"route", r.route.name,
			"user", user,
			"status", rec.status,
			"bytes", rec.written,
			"micros", elapsed.Microseconds())
	}
}

// statusRecorder remembers what went through a ResponseWriter.
type statusRecorder struct {
	http.ResponseWriter
	status  int
	written int64
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusRecorder) Write(p []byte) (int, error) {
	n, err := s.ResponseWriter.Write(p)
	s.written += int64(n)
	return n, err
}

// withCompression sends large answers gzipped to clients that accept it.
func (g *Gateway) withCompression(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *request) {
		if !strings.Contains(strings.ToLower(r.Header.Get("Accept-Encoding")), "gzip") {
			next(w, r)
			return
		}
		answer := newCapture()
		next(answer, r)
		copyHeader(w.Header(), answer.header)
		if answer.body.Len() < compressAbove {
			w.WriteHeader(answer.status)
			w.Write(answer.body.Bytes())
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.status)
		zw := gzip.NewWriter(w)
		zw.Write(answer.body.Bytes())
		zw.Close()
	}
}

// withLimit turns away clients that call too often.
func (g *Gateway) withLimit(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *request) {
		if !g.limiter.allow(r.claims.Subject, r.route.name) {
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusTooManyRequests, "too many requests")
			return
		}
		next(w, r)
	}
}

// withCache answers from the cache where it can, and fills it where it cannot.
func (g *Gateway) withCache(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *request) {
		if e := g.cache.get(r); e != nil {
			copyHeader(w.Header(), e.header)
			w.Header().Set("X-Cache", "hit")
			w.WriteHeader(http.StatusOK)
			w.Write([]byte(e.body))
			return
		}
		answer := newCapture()
		next(answer, r)
		if answer.status == http.StatusOK {
			g.cache.put(r, answer)
		}
		copyHeader(w.Header(), answer.header)
		w.Header().Set("X-Cache", "miss")
		w.WriteHeader(answer.status)
		w.Write(answer.body.Bytes())
	}
}
