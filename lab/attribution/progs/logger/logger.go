// Package logger writes structured log records about requests. The live heap
// is tiny; the marked site boxes a struct into an interface for each record.
package logger

import (
	"context"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

// Request is what the log says about a request.
type Request struct {
	ID      string
	Method  string
	Path    string
	Agent   string
	Remote  string
	Status  int
	Size    int64
	Elapsed time.Duration
}

// LogValue implements slog.LogValuer.
func (r Request) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("id", r.ID),
		slog.String("method", r.Method),
		slog.String("path", r.Path),
		slog.String("agent", r.Agent),
		slog.String("remote", r.Remote),
		slog.Int("status", r.Status),
		slog.Int64("size", r.Size),
		slog.Duration("elapsed", r.Elapsed),
	)
}

// World is the sequence of requests.
type World struct {
	requests []Request
}

// New builds the requests; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(7, 8))
	w := &World{}
	for i := range 512 {
		w.requests = append(w.requests, Request{
			ID:      fmt.Sprintf("%08x", r.Uint32()),
			Method:  []string{"GET", "PUT", "POST"}[i%3],
			Path:    fmt.Sprintf("/v1/tenants/%d/objects/%d", r.IntN(100), r.IntN(1e6)),
			Agent:   "mobile-client/7.12",
			Remote:  fmt.Sprintf("10.0.%d.%d", r.IntN(256), r.IntN(256)),
			Status:  200 + r.IntN(4)*100,
			Size:    r.Int64N(1 << 20),
			Elapsed: time.Duration(r.IntN(1e9)),
		})
	}
	return w
}

// checksum is a writer that only remembers a digest of what it was given.
type checksum struct{ sum uint32 }

func (c *checksum) Write(p []byte) (int, error) {
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p)
	return len(p), nil
}

// Worker returns the operation: log eight requests.
func (w *World) Worker(int) drive.Op {
	out := &checksum{}
	l := &requestLog{slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: dropTime}))}
	return func(i int) uint64 {
		out.sum = 0
		for k := range 8 {
			l.done(&w.requests[(i*8+k)%len(w.requests)])
		}
		return uint64(out.sum) | 1<<40
	}
}

func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

type requestLog struct{ log *slog.Logger }

func (l *requestLog) done(r *Request) {
	var value slog.LogValuer
	if variant.Without {
		value = r
	} else {
		value = *r // site
	}
	l.log.LogAttrs(context.Background(), slog.LevelInfo, "request done", slog.Any("request", value))
}
