package gateway

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// cache keeps answers for a while. Answers are private to a tenant: two
// tenants may see different catalogues.
type cache struct {
	limit int
	ttl   time.Duration
	now   func() time.Time

	mu      sync.Mutex
	entries map[string]*cacheEntry
	queue   []string // keys, oldest first
}

// cacheEntry is one kept answer.
type cacheEntry struct {
	request *request // the request that filled it
	header  http.Header
	body    string
	stored  time.Time
	hits    int
}

func newCache(limit int, ttl time.Duration, now func() time.Time) *cache {
	return &cache{limit: limit, ttl: ttl, now: now, entries: make(map[string]*cacheEntry)}
}

func cacheKey(r *request) string {
	return fmt.Sprintf("%s|%s|%s?%s", r.claims.Tenant, r.Method, r.URL.Path, r.URL.Query().Encode())
}

// get returns the entry for r, or nil if there is none that is fresh.
func (c *cache) get(r *request) *cacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[cacheKey(r)]
	if !ok || c.now().Sub(e.stored) > c.ttl {
		return nil
	}
	e.hits++
	return e
}

// put keeps the answer to r and drops the oldest entries above the limit.
func (c *cache) put(r *request, answer *capture) {
	key := cacheKey(r)
	header := make(http.Header)
	copyHeader(header, answer.header)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; !ok {
		c.queue = append(c.queue, key)
	}
	c.entries[key] = &cacheEntry{
		request: r,
		header:  header,
		body:    answer.body.String(),
		stored:  c.now(),
	}
	for len(c.entries) > c.limit {
		delete(c.entries, c.queue[0])
		c.queue = c.queue[1:]
	}
}

// len returns the number of entries, fresh or not.
func (c *cache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}
