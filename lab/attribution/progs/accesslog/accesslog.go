// Package accesslog summarises chunks of a web server's log. The live heap is
// tiny; the marked site converts each request path from bytes to a string
// that lives for one line.
package accesslog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"unsafe"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

// World is the log, in chunks of whole lines.
type World struct {
	chunks [][]byte
}

// New builds the log; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(5, 6))
	kinds := []string{"static/css/theme.css", "api/v2/orders/items", "api/v2/customers/addresses", "img/products/large/front.webp"}
	w := &World{}
	for range 50 {
		var b bytes.Buffer
		for range 24 {
			fmt.Fprintf(&b, "10.%d.%d.%d GET /shop/%d/%s/../%s/%d %d %d\n", r.IntN(256), r.IntN(256), r.IntN(256),
				r.IntN(40), kinds[r.IntN(4)], kinds[r.IntN(4)], r.IntN(1e6), 200+r.IntN(3)*100, r.IntN(60000))
		}
		w.chunks = append(w.chunks, b.Bytes())
	}
	return w
}

// Worker returns the operation: summarise one chunk.
func (w *World) Worker(int) drive.Op {
	return func(i int) uint64 {
		s := &summary{}
		s.add(w.chunks[i%len(w.chunks)])
		return s.digest()
	}
}

type summary struct {
	hosts  []netip.Addr
	bytes  int
	errors int
	api    int
	depth  int
}

func (s *summary) add(chunk []byte) {
	for len(chunk) > 0 {
		line, rest, _ := bytes.Cut(chunk, []byte("\n"))
		chunk = rest
		s.line(line)
	}
}

func (s *summary) line(line []byte) {
	host, line, _ := bytes.Cut(line, []byte(" "))
	_, line, _ = bytes.Cut(line, []byte(" "))
	target, line, _ := bytes.Cut(line, []byte(" "))
	status, size, _ := bytes.Cut(line, []byte(" "))

	var addr netip.Addr
	if err := addr.UnmarshalText(host); err == nil {
		s.hosts = append(s.hosts, addr)
	}
	if status[0] != '2' {
		s.errors++
	}
	n, err := strconv.Atoi(string(size))
	if err == nil {
		s.bytes += n
	}
	var p string
	if variant.Without {
		// The chunk is not written to while p is in use.
		p = unsafe.String(unsafe.SliceData(target), len(target))
	} else {
		p = string(target) // site
	}
	s.classify(p)
}

func (s *summary) classify(target string) {
	clean := path.Clean(target)
	s.depth += strings.Count(clean, "/")
	if strings.Contains(clean, "/api/") {
		s.api++
	}
	if strings.HasSuffix(clean, ".css") {
		s.depth++
	}
}

func (s *summary) digest() uint64 {
	d := drive.Mix(uint64(s.bytes), uint64(s.errors<<40|s.api<<20|s.depth))
	for _, h := range s.hosts {
		a := h.As4()
		d = drive.Mix(d, uint64(a[1])<<16|uint64(a[2])<<8|uint64(a[3]))
	}
	return d
}
