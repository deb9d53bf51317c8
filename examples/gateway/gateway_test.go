package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var testSecret = []byte("test")

// testGateway is a gateway with a clock that stands still and the headers of
// a client that may use it.
type testGateway struct {
	*Gateway
	now    time.Time
	log    bytes.Buffer
	header http.Header
}

func newTestGateway(t testing.TB, c Config) *testGateway {
	t.Helper()
	g := &testGateway{now: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}
	c.Services, c.Secret, c.Now = FakeServices(), testSecret, func() time.Time { return g.now }
	if c.AccessLog == nil {
		c.AccessLog = &g.log
	}
	g.Gateway = New(c)
	token, err := Sign(Claims{Subject: "u-7", Tenant: "demo", Scopes: []string{"read", "write"}}, testSecret)
	if err != nil {
		t.Fatal(err)
	}
	g.header = http.Header{"Authorization": {"Bearer " + token}}
	return g
}

func (g *testGateway) send(method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = g.header
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	g := newTestGateway(t, Config{})
	f := func(method, target, body string, status int, part string) {
		t.Helper()
		w := g.send(method, target, body)
		if w.Code != status || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s %s = %d %s, want %d and %q", method, target, w.Code, w.Body, status, part)
		}
	}
	f("GET", "/healthz", "", 200, `"ok"`)
	f("GET", "/v1/users/u-1", "", 200, `"firstName":"amber"`)
	f("GET", "/v1/users/u-1", "", 200, `"postalCode":"00000"`)
	f("GET", "/v1/users/u-501", "", 404, "not found")
	f("GET", "/v1/users/o-1", "", 400, "malformed user id")
	f("GET", "/v1/products?q=copper+river", "", 200, `"query":"copper river"`)
	f("GET", "/v1/products?q=nothing-like-it", "", 200, `"count":0`)
	f("GET", "/v1/orders/o-3", "", 200, `"total":"`)
	f("GET", "/v1/orders/o-3", "", 200, `"firstName":"copper"`)
	f("GET", "/v1/orders/x", "", 400, "malformed order id")
	f("POST", "/v1/orders", `{"items":[{"product_id":"p-1","quantity":2}]}`, 201, `"orderState":"new"`)
	f("POST", "/v1/orders", `{"items":[]}`, 422, "at least one item")
	f("POST", "/v1/orders", `{"items":[{"product_id":"p-1","quantity":0},{"product_id":"p-1","quantity":1}]}`, 422, "twice")
	f("POST", "/v1/orders", `{"item":1}`, 400, "unknown field")
	f("POST", "/v1/orders", `{`, 400, "unexpected EOF")
	f("DELETE", "/v1/orders/o-1", "", 404, "no such route")
	f("GET", "/v1/users", "", 404, "no such route")
}

func TestOrderTotal(t *testing.T) {
	g := newTestGateway(t, Config{})
	var got struct {
		Total string
		Items []struct {
			Amount   string
			Quantity int
			Product  struct{ Price string }
		}
	}
	if err := json.Unmarshal(g.send("GET", "/v1/orders/o-2", "").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// Order o-2 holds one p-8 and two p-19: 11.16 and 2 × 25.57.
	if want := "62.30"; got.Total != want || len(got.Items) != 2 {
		t.Errorf("total of o-2 = %s with %d items, want %s with 2", got.Total, len(got.Items), want)
	}
	if want := "51.14"; len(got.Items) == 2 && got.Items[1].Amount != want {
		t.Errorf("second amount of o-2 = %s, want %s", got.Items[1].Amount, want)
	}
}

func TestTokens(t *testing.T) {
	now := time.Unix(1000, 0)
	sign := func(c Claims) string {
		token, err := Sign(c, testSecret)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	good := sign(Claims{Subject: "u-1", Expires: 1001})
	f := func(header string, want error) {
		t.Helper()
		if _, got := verify(header, testSecret, now); got != want {
			t.Errorf("verify(%q) = %v, want %v", header, got, want)
		}
	}
	f("Bearer "+good, nil)
	f("bearer "+good, nil)
	f("", errNoToken)
	f("Basic "+good, errNoToken)
	f("Bearer abc", errMalformed)
	f("Bearer "+good+"0", errSignature)
	f("Bearer x"+good, errSignature)
	f("Bearer "+sign(Claims{Subject: "u-1", Expires: 1000}), errExpired)

	g := newTestGateway(t, Config{})
	g.header = nil
	if w := g.send("GET", "/v1/users/u-1", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d, want 401", w.Code)
	}
}

func TestRateLimit(t *testing.T) {
	g := newTestGateway(t, Config{RatePerSecond: 1, Burst: 2})
	f := func(target string, want int) {
		t.Helper()
		if got := g.send("GET", target, "").Code; got != want {
			t.Errorf("GET %s = %d, want %d", target, got, want)
		}
	}
	f("/v1/users/u-1", 200)
	f("/v1/users/u-2", 200)
	f("/v1/users/u-3", 429)
	f("/v1/orders/o-1", 200) // a route of its own
	g.now = g.now.Add(time.Second)
	f("/v1/users/u-4", 200)
	f("/v1/users/u-5", 429)
	f("/healthz", 200)
}

func TestCache(t *testing.T) {
	g := newTestGateway(t, Config{CacheEntries: 2, CacheTTL: time.Minute})
	f := func(target, want string) {
		t.Helper()
		if got := g.send("GET", target, "").Header().Get("X-Cache"); got != want {
			t.Errorf("GET %s: cache %s, want %s", target, got, want)
		}
	}
	f("/v1/users/u-1", "miss")
	f("/v1/users/u-1", "hit")
	f("/v1/users/u-2", "miss")
	f("/v1/users/u-3", "miss") // pushes u-1 out
	f("/v1/users/u-1", "miss")
	f("/v1/products?q=river&x=1", "miss")
	f("/v1/products?x=1&q=river", "hit")
	f("/v1/users/u-999", "miss")
	f("/v1/users/u-999", "miss") // failures are not kept
	g.now = g.now.Add(2 * time.Minute)
	f("/v1/products?x=1&q=river", "miss")
	if got := g.cache.len(); got != 2 {
		t.Errorf("cache holds %d entries, want 2", got)
	}
}

func TestCompression(t *testing.T) {
	g := newTestGateway(t, Config{})
	plain := g.send("GET", "/v1/products?q=river", "")
	g.header.Set("Accept-Encoding", "br, gzip")
	packed := g.send("GET", "/v1/products?q=river", "")
	if got := packed.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding = %q, want gzip", got)
	}
	zr, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, plain.Body.Bytes()) {
		t.Errorf("unpacked answer differs: %d bytes, want %d", len(got), plain.Body.Len())
	}
	if got := g.send("GET", "/v1/users/u-1", "").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("short answer has Content-Encoding %q, want none", got)
	}
}

func TestHeaders(t *testing.T) {
	src := http.Header{
		"content-type": {" text/plain "}, "Connection": {"close, X-Private"},
		"X-Private": {"1"}, "Upgrade": {"h2c"}, "X-Twice": {"a", "b"},
	}
	dst := make(http.Header)
	copyHeader(dst, src)
	if got, want := fmt.Sprint(dst), "map[Content-Type:[text/plain] X-Twice:[a b]]"; got != want {
		t.Errorf("copyHeader(%v) = %s, want %s", src, got, want)
	}
}

func TestCamelKeys(t *testing.T) {
	in := map[string]any{"a_b": []any{map[string]any{"c_d_e": 1}, "x_y"}, "plain": nil}
	if got, want := fmt.Sprint(camelKeys(in)), "map[aB:[map[cDE:1] x_y] plain:<nil>]"; got != want {
		t.Errorf("camelKeys(%v) = %s, want %s", in, got, want)
	}
}

func TestAccessLogAndMetrics(t *testing.T) {
	g := newTestGateway(t, Config{})
	g.send("GET", "/v1/users/u-1", "")
	g.send("GET", "/v1/users/u-1", "")
	g.send("GET", "/v1/users/a%20b", "")
	wantLog := `2026-11-21T08:00:00Z request method=GET path="/v1/users/a b" route=user user=u-7 status=400`
	if got := g.log.String(); !strings.Contains(got, wantLog) {
		t.Errorf("access log is\n%swant %s", got, wantLog)
	}
	text := g.send("GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`gateway_requests_total{route="user",method="GET",status="200"} 2`,
		`gateway_requests_total{route="user",method="GET",status="400"} 1`,
		"gateway_cache_entries 1",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %s:\n%s", want, text)
		}
	}
}
