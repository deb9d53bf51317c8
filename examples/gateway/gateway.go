// Package gateway is a small HTTP gateway for JSON APIs. It checks tokens,
// limits rates, calls backend services, joins and reshapes their answers,
// caches and compresses the result, and keeps access logs and metrics.
package gateway

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Config describes a Gateway. The zero value is ready to use, except that a
// Gateway without Services answers 502 to every request it has to forward.
type Config struct {
	Services      map[string]http.Handler // backends by name: "users", "catalog", "orders"
	Secret        []byte                  // signs tokens; empty means "gateway-example"
	RatePerSecond float64                 // requests a client may make per route; 0 means no limit
	Burst         int                     // requests a client may make at once; 0 means 20
	CacheTTL      time.Duration           // how long an answer may be reused; 0 means one minute
	CacheEntries  int                     // most answers kept; 0 means 4096
	AccessLog     io.Writer               // one line per request; nil means io.Discard
	Now           func() time.Time        // the clock; nil means time.Now
}

func (c Config) withDefaults() Config {
	if len(c.Secret) == 0 {
		c.Secret = []byte("gateway-example")
	}
	if c.Burst == 0 {
		c.Burst = 20
	}
	if c.CacheTTL == 0 {
		c.CacheTTL = time.Minute
	}
	if c.CacheEntries == 0 {
		c.CacheEntries = 4096
	}
	if c.AccessLog == nil {
		c.AccessLog = io.Discard
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Gateway is the http.Handler of the whole API. It is safe for concurrent use.
type Gateway struct {
	config  Config
	client  *client
	cache   *cache
	limiter *limiter
	log     *accessLog
	metrics *metrics
	routes  []route
}

// route ties a method and a path pattern such as /v1/users/{id} to a handler.
type route struct {
	name    string
	method  string
	pattern string
	public  bool // needs no token
	cached  bool
	handle  func(*Gateway, http.ResponseWriter, *request)
}

// request is an incoming request with what the gateway has found out about it.
type request struct {
	*http.Request
	route  route
	params map[string]string
	claims *Claims
}

// New returns a Gateway for c.
func New(c Config) *Gateway {
	c = c.withDefaults()
	return &Gateway{
		config:  c,
		client:  newClient(c.Services),
		cache:   newCache(c.CacheEntries, c.CacheTTL, c.Now),
		limiter: newLimiter(c.RatePerSecond, c.Burst, c.Now),
		log:     newAccessLog(c.AccessLog, c.Now),
		metrics: newMetrics(),
		routes: []route{
			{name: "health", method: "GET", pattern: "/healthz", public: true, handle: (*Gateway).health},
			{name: "metrics", method: "GET", pattern: "/metrics", public: true, handle: (*Gateway).showMetrics},
			{name: "user", method: "GET", pattern: "/v1/users/{id}", cached: true, handle: (*Gateway).getUser},
			{name: "search", method: "GET", pattern: "/v1/products", cached: true, handle: (*Gateway).searchProducts},
			{name: "order", method: "GET", pattern: "/v1/orders/{id}", handle: (*Gateway).getOrder},
			{name: "create", method: "POST", pattern: "/v1/orders", handle: (*Gateway).createOrder},
		},
	}
}

// ServeHTTP answers r.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{Request: r}
	for _, rt := range g.routes {
		if params, ok := matchPath(rt.pattern, r.URL.Path); ok && rt.method == r.Method {
			req.route, req.params = rt, params
			break
		}
	}
	if req.route.handle == nil {
		writeError(w, http.StatusNotFound, "no such route: "+r.Method+" "+r.URL.Path)
		return
	}
	h := func(w http.ResponseWriter, req *request) { req.route.handle(g, w, req) }
	if req.route.cached {
		h = g.withCache(h)
	}
	if !req.route.public {
		h = g.withAuth(g.withLimit(h))
	}
	g.withObservation(g.withCompression(h))(w, req)
}

// matchPath reports whether path has the shape of pattern, and the values of
// the pattern's {names}.
func matchPath(pattern, path string) (map[string]string, bool) {
	want := strings.Split(strings.Trim(pattern, "/"), "/")
	got := strings.Split(strings.Trim(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := make(map[string]string)
	for i, part := range want {
		if strings.HasPrefix(part, "{") && strings.HasSuffix(part, "}") {
			params[strings.Trim(part, "{}")] = got[i]
		} else if part != got[i] {
			return nil, false
		}
	}
	return params, true
}
