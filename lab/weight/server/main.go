// Command server is a service that keeps an amount of memory and allocates with each
// request. It says itself how large its live heap is, so that it can be compared with what
// a recording says.
//
//	server -addr 127.0.0.1:8095 -keep 50
package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8095", "`address` to listen on")
	keep := flag.Int("keep", 50, "`MiB` to keep")
	flag.Parse()
	if err := serve(*addr, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// entry is what the service keeps: some of it with pointers, most of it without.
type entry struct {
	name string
	text []byte
	next *entry
}

func serve(addr string, keep int) error {
	const size = 4 << 10
	var first *entry
	for i := range keep << 20 / size {
		first = &entry{fmt.Sprint("entry ", i), bytes.Repeat([]byte{'x'}, size-64), first}
	}
	seen := &sampled{}
	go seen.watch()
	var one sync.Mutex // what requests hold does not depend on how many there are at a time
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		one.Lock()
		defer one.Unlock()
		var parts []string
		for e := first; e != nil && len(parts) < 64; e = e.next {
			parts = append(parts, strings.ToUpper(string(e.text)))
		}
		fmt.Fprintln(w, len(strings.Join(parts, ",")))
	})
	http.HandleFunc("/live", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, seen.median()) })
	return http.ListenAndServe(addr, nil)
}

// sampled is the sizes of the live heap, one of each collection that was seen.
type sampled struct {
	mu   sync.Mutex
	live []uint64
}

func (s *sampled) watch() {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/automatic:gc-cycles"}}
	last := uint64(0)
	for range time.Tick(20 * time.Millisecond) {
		metrics.Read(read)
		if n := read[1].Value.Uint64(); n != last {
			last = n
			s.mu.Lock()
			s.live = append(s.live, read[0].Value.Uint64())
			s.mu.Unlock()
		}
	}
}

// median forgets what it has seen, so that the next load has a figure of its own.
func (s *sampled) median() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live) == 0 {
		return 0
	}
	slices.Sort(s.live)
	m := s.live[len(s.live)/2]
	s.live = s.live[:0]
	return m
}
