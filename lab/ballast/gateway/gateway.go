// Package gateway is a service as it stands in front of others: it keeps sessions
// on the heap, and each request reads some of them and makes garbage. It runs in
// the process that measures it, so that the collector is all there is between a
// request that is due and its answer.
package gateway

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// session is what lives: small objects that point at each other.
type session struct {
	id    int
	name  string
	tags  []string
	next  *session
	agent *agent
}

type agent struct {
	key, value string
	of         *session
}

type order struct {
	ID       int      `json:"id"`
	Customer string   `json:"customer"`
	Items    []item   `json:"items"`
	Notes    []string `json:"notes"`
}

type item struct {
	SKU   string            `json:"sku"`
	Name  string            `json:"name"`
	Qty   int               `json:"qty"`
	Price float64           `json:"price"`
	Attrs map[string]string `json:"attrs"`
}

// Service has its sessions, and documents to be sent.
type Service struct {
	// Merge has requests put the answers of others together, which takes less CPU
	// for each byte allocated, instead of decoding and encoding JSON.
	Merge bool

	sessions []*session
	locks    [64]sync.Mutex
	docs     [][]byte
}

// sessionBytes is what a session takes on the heap.
const sessionBytes = 200

// New makes a service with bytes of live heap, about.
func New(bytes int64) *Service {
	s := &Service{sessions: make([]*session, 0, bytes/sessionBytes)}
	var prev *session
	for i := range int(bytes / sessionBytes) {
		x := newSession(i)
		if follows(i) {
			x.next = prev
		}
		prev = x
		s.sessions = append(s.sessions, x)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 64 {
		s.docs = append(s.docs, document(r, i))
	}
	runtime.GC()
	return s
}

// Grow adds bytes of live heap.
func (s *Service) Grow(bytes int64) []*session {
	more := make([]*session, 0, bytes/sessionBytes)
	for i := range int(bytes / sessionBytes) {
		more = append(more, newSession(i))
	}
	return more
}

func newSession(i int) *session {
	x := &session{id: i, name: "session-" + strconv.Itoa(i)}
	x.tags = []string{"tag-" + strconv.Itoa(i%977), "tag-" + strconv.Itoa(i%499)}
	x.agent = &agent{key: "agent", value: strconv.Itoa(i * 7), of: x}
	return x
}

func document(r *rand.Rand, i int) []byte {
	o := order{ID: i, Customer: "customer-" + strconv.Itoa(r.IntN(1e6))}
	for range 4 + r.IntN(24) {
		it := item{SKU: strconv.Itoa(r.IntN(1e9)), Name: "item name " + strconv.Itoa(r.IntN(1e6)), Qty: r.IntN(10),
			Price: r.Float64() * 100, Attrs: map[string]string{}}
		for k := range r.IntN(5) {
			it.Attrs["attr"+strconv.Itoa(k)] = strconv.Itoa(r.IntN(1e6))
		}
		o.Items = append(o.Items, it)
	}
	for range r.IntN(6) {
		o.Notes = append(o.Notes, strings.Repeat("note ", 1+r.IntN(20)))
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // of a value that was just made
	}
	return b
}

// Serve answers one request and returns the size of the answer.
func (s *Service) Serve(r *rand.Rand) (int, error) {
	if s.Merge {
		return s.merge(r), nil
	}
	var o order
	if err := json.Unmarshal(s.docs[r.IntN(len(s.docs))], &o); err != nil {
		return 0, err
	}
	for k := range 8 {
		o.Notes = append(o.Notes, s.visit(r.IntN(len(s.sessions)), k == 0).name)
	}
	b, err := json.Marshal(&o)
	return len(b), err
}

// visit returns session i, and renews it if asked to.
func (s *Service) visit(i int, renew bool) *session {
	x, fresh := s.swap(i, renew)
	if fresh != nil && follows(i+1) && i+1 < len(s.sessions) {
		// Or the old session would live for as long as its neighbour.
		mu := s.lock(i + 1)
		mu.Lock()
		s.sessions[i+1].next = fresh
		mu.Unlock()
	}
	return x
}

// swap returns session i and, if it is to be renewed, what is there instead now.
func (s *Service) swap(i int, renew bool) (old, fresh *session) {
	mu := s.lock(i)
	mu.Lock()
	defer mu.Unlock()
	old = s.sessions[i]
	if !renew {
		return old, nil
	}
	fresh = newSession(i)
	fresh.next, old.next = old.next, nil
	s.sessions[i] = fresh
	return old, fresh
}

func (s *Service) lock(i int) *sync.Mutex { return &s.locks[i%len(s.locks)] }

// follows says whether session i points at the one before.
func follows(i int) bool { return i%16 != 0 }

// Age renews every session once, in random order: what it does to the heap is what hours of
// service do. The sessions of a fresh heap lie in the order in which the collector
// comes by; those of an old one lie anywhere, which makes them several times as dear to
// mark.
func (s *Service) Age() {
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(len(s.sessions)) {
		s.visit(i, true)
	}
	runtime.GC()
}

// field is a value in an answer.
type field struct {
	key, value string
	kids       []*field
}

// merge asks for 24 sessions, makes a tree of what they say and writes it out.
func (s *Service) merge(r *rand.Rand) int {
	root := &field{key: "root"}
	for k := range 24 {
		x := s.visit(r.IntN(len(s.sessions)), k == 0)
		f := &field{key: "session", value: x.name}
		for _, tag := range x.tags {
			f.kids = append(f.kids, &field{key: "tag", value: tag})
		}
		f.kids = append(f.kids, &field{key: x.agent.key, value: x.agent.value})
		root.kids = append(root.kids, f)
	}
	return len(root.write(nil))
}

func (f *field) write(b []byte) []byte {
	b = append(b, f.key...)
	b = append(b, '=')
	b = append(b, f.value...)
	for _, kid := range f.kids {
		b = append(b, ' ')
		b = kid.write(b)
	}
	return b
}
