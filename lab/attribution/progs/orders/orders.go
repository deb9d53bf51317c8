// Package orders is a JSON service: it prices orders from a catalogue of some
// 20 MiB. The marked site reads each request body into a fresh buffer.
package orders

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type product struct {
	Name  string
	Cents int64
	Tax   int
}

type line struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

type order struct {
	Customer string `json:"customer"`
	Note     string `json:"note"`
	Lines    []line `json:"lines"`
}

type invoice struct {
	Customer string `json:"customer"`
	Net      int64  `json:"net"`
	Tax      int64  `json:"tax"`
	Missing  int    `json:"missing"`
}

// World is the service with its catalogue, and the orders that come in.
type World struct {
	catalogue map[string]*product
	bodies    [][]byte
	buffers   sync.Pool // of *[]byte
}

// New builds the service; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(9, 10))
	w := &World{catalogue: map[string]*product{}}
	for i := range 100_000 {
		w.catalogue[sku(i)] = &product{fmt.Sprintf("Product %d, boxed", i), r.Int64N(50_000), 7 + 12*r.IntN(2)}
	}
	for i := range 64 {
		o := order{Customer: fmt.Sprintf("C-%d", i), Note: string(bytes.Repeat([]byte("Please ring twice. "), 150))}
		for range 5 + r.IntN(5) {
			o.Lines = append(o.Lines, line{sku(r.IntN(101_000)), 1 + r.Int64N(9)})
		}
		body, err := json.Marshal(o)
		if err != nil {
			panic(err) // a bug: the type is ours
		}
		w.bodies = append(w.bodies, body)
	}
	return w
}

func sku(i int) string { return fmt.Sprintf("SKU-%07d", i) }

// response is an http.ResponseWriter that only remembers a digest.
type response struct {
	header http.Header
	status int
	sum    uint32
}

func (r *response) Header() http.Header    { return r.header }
func (r *response) WriteHeader(status int) { r.status = status }
func (r *response) Write(p []byte) (int, error) {
	r.sum = crc32.Update(r.sum, crc32.IEEETable, p)
	return len(p), nil
}

// Worker returns the operation: serve one order.
func (w *World) Worker(int) drive.Op {
	body := &bytes.Reader{}
	req, err := http.NewRequest(http.MethodPost, "/orders", body)
	if err != nil {
		panic(err) // a bug: the arguments are constants
	}
	resp := &response{header: http.Header{}}
	return func(i int) uint64 {
		b := w.bodies[i%len(w.bodies)]
		body.Reset(b)
		req.Body, req.ContentLength = io.NopCloser(body), int64(len(b))
		resp.status, resp.sum = http.StatusOK, 0
		w.ServeHTTP(resp, req)
		return uint64(resp.status)<<32 | uint64(resp.sum)
	}
}

// ServeHTTP prices an order.
func (w *World) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	var o order
	if err := w.decode(req, &o); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	inv := invoice{Customer: o.Customer}
	for _, l := range o.Lines {
		p, ok := w.catalogue[l.SKU]
		if !ok {
			inv.Missing++
			continue
		}
		net := p.Cents * l.Quantity
		inv.Net += net
		inv.Tax += net * int64(p.Tax) / 100
	}
	rw.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(rw).Encode(inv); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
	}
}

func (w *World) decode(req *http.Request, o *order) error {
	n := int(req.ContentLength)
	var body []byte
	if variant.Without {
		buf, ok := w.buffers.Get().(*[]byte)
		if !ok {
			buf = new([]byte)
		}
		if cap(*buf) < n {
			*buf = make([]byte, n+n/4)
		}
		defer w.buffers.Put(buf) // strings decoded from the body are copies
		body = (*buf)[:n]
	} else {
		body = make([]byte, n) // site
	}
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	return json.Unmarshal(body, o)
}
