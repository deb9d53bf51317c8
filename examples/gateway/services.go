package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// FakeServices returns the backends that the gateway's tests, benchmarks and
// command run against: users u-1 … u-500, products p-1 … p-200 and orders o-1
// … o-1000. Their answers are encoded once and always the same, except that
// every POST to orders gets a new id.
func FakeServices() map[string]http.Handler {
	return map[string]http.Handler{
		"users":   fakeUsers(),
		"catalog": newFakeCatalog(),
		"orders":  newFakeOrders(),
	}
}

// encoded is a service that knows its answers by path.
type encoded map[string][]byte

// ServeHTTP answers with what is stored for the path.
func (e encoded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := e[r.URL.Path]
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(data)
}

// add stores v under path. It panics if v cannot be encoded, which only a
// mistake in this file can cause.
func (e encoded) add(path string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	e[path] = data
}

func fakeUsers() encoded {
	users := make(encoded, 500)
	for i := range 500 {
		id := fmt.Sprintf("u-%d", i+1)
		users.add("/users/"+id, map[string]any{
			"user_id":    id,
			"first_name": words[i%len(words)],
			"last_name":  words[(i*7+3)%len(words)],
			"created_at": fmt.Sprintf("2026-%02d-%02dT08:00:00Z", i%12+1, i%28+1),
			"home_address": map[string]any{
				"street_name": words[(i*5+1)%len(words)] + " road",
				"postal_code": fmt.Sprintf("%05d", i*37),
			},
			"login_history": []any{
				map[string]any{"client_name": "web", "ip_address": fmt.Sprintf("192.0.2.%d", i%250)},
				map[string]any{"client_name": "app", "ip_address": fmt.Sprintf("198.51.100.%d", i%250)},
			},
		})
	}
	return users
}

// fakeCatalog serves /products?q=words and /products?ids=p-1,p-2.
type fakeCatalog struct {
	products []Product
	byID     map[string]int
	encoded  [][]byte
}

func newFakeCatalog() *fakeCatalog {
	c := &fakeCatalog{byID: make(map[string]int)}
	for i := range 200 {
		name := words[i%len(words)] + " " + words[(i*3+2)%len(words)]
		p := Product{
			ID:          fmt.Sprintf("p-%d", i+1),
			Name:        name,
			Description: strings.Repeat("A fine "+name+" for every "+words[(i*11)%len(words)]+". ", 3),
			Tags:        []string{words[(i*5)%len(words)], words[(i*13+1)%len(words)]},
			Cents:       int64(199 + i*131),
			Stock:       i % 9,
			Attributes:  map[string]string{"colour": words[i%5], "size": words[i%3+5]},
		}
		data, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		c.byID[p.ID] = i
		c.products = append(c.products, p)
		c.encoded = append(c.encoded, data)
	}
	return c
}

// ServeHTTP answers with the products asked for.
func (c *fakeCatalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var picked [][]byte
	if ids := query.Get("ids"); ids != "" {
		for id := range strings.SplitSeq(ids, ",") {
			if i, ok := c.byID[id]; ok {
				picked = append(picked, c.encoded[i])
			}
		}
	} else {
		first, _, _ := strings.Cut(query.Get("q"), " ")
		for i, p := range c.products {
			if strings.Contains(p.Description, first) {
				picked = append(picked, c.encoded[i])
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(`{"products":[`))
	w.Write(bytes.Join(picked, []byte(",")))
	w.Write([]byte(`]}`))
}

// fakeOrders serves known orders and accepts new ones without keeping them.
type fakeOrders struct {
	encoded
	last atomic.Int64
}

func newFakeOrders() *fakeOrders {
	o := &fakeOrders{encoded: make(encoded, 1000)}
	for i := range 1000 {
		order := Order{ID: fmt.Sprintf("o-%d", i+1), UserID: fmt.Sprintf("u-%d", i%500+1), Note: "leave at the " + words[i%len(words)]}
		for j := range i%12 + 1 {
			order.Items = append(order.Items, OrderItem{ProductID: fmt.Sprintf("p-%d", (i*7+j*11)%200+1), Quantity: j%4 + 1})
		}
		o.add("/orders/"+order.ID, order)
	}
	o.last.Store(1000)
	return o
}

// ServeHTTP answers GET from the known orders and POST with a new id.
func (o *fakeOrders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		o.encoded.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id":"o-%d","order_state":"new"}`, o.last.Add(1))
}

// words is the vocabulary of the fake data; it is never changed.
var words = [...]string{
	"amber", "birch", "copper", "dusk", "ember", "fern", "granite", "harbour", "indigo", "jasper",
	"kettle", "lantern", "meadow", "nickel", "orchard", "pebble", "quarry", "river", "saddle", "timber",
}
