package gateway

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// limiter holds a token bucket for each client and route.
type limiter struct {
	rate  float64 // tokens per second; 0 lets everything through
	burst float64
	now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*tokenBucket
}

type tokenBucket struct {
	tokens float64
	last   time.Time
}

func newLimiter(rate float64, burst int, now func() time.Time) *limiter {
	return &limiter{rate: rate, burst: float64(burst), now: now, buckets: make(map[string]*tokenBucket)}
}

// allow takes a token for the client on the route and reports whether there
// was one.
func (l *limiter) allow(client, route string) bool {
	key := fmt.Sprintf("%s/%s", client, route)
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.buckets[key]
	if !ok {
		b = &tokenBucket{tokens: l.burst, last: l.now()}
		l.buckets[key] = b
	}
	if l.rate == 0 {
		return true
	}
	now := l.now()
	b.tokens = math.Min(l.burst, b.tokens+now.Sub(b.last).Seconds()*l.rate)
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
