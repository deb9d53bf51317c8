package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Server answers for one recording: the page at /, the report at /report.json,
// the version of both at /version.json, source and machine code that the page
// leaves out at /source.json and /code.json, and the recording's own files below
// /bundle/. It only reads. The zero value is not usable; see NewServer. It is
// safe for concurrent use.
type Server struct {
	shown atomic.Pointer[served]
}

// served is what a Server answers with at one time.
type served struct {
	html    []byte
	report  []byte
	version []byte
	name    string // of the version
	rest    *Rest
	policy  string
	parts   fs.FS
	listed  []string
	built   time.Time
}

// ServerOptions are what a Server shows.
type ServerOptions struct {
	Title   string
	Data    []byte // as [Data] gives it
	Report  []byte // the heaptrim.report/1 document
	Version string // as in the options of Data
	// Rest answers for what Data leave out; nil: nobody does.
	Rest *Rest
	// Parts are the recording's files and Listed the slash-separated names of
	// those that may be read; no other name is ever opened.
	Parts  fs.FS
	Listed []string
}

// NewServer builds the page.
func NewServer(o ServerOptions) (*Server, error) {
	s := &Server{}
	return s, s.Show(o)
}

// Show replaces what the server answers with, for requests that begin from now
// on. When it fails, all stays as it was.
func (s *Server) Show(o ServerOptions) error {
	// The page asks its own server, and nobody else, for the version and for what
	// it leaves out.
	p, err := newPage(o.Title, "; connect-src 'self'")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.write(&b, o.Data); err != nil {
		return err
	}
	version, err := json.Marshal(map[string]string{"version": o.Version})
	if err != nil {
		return err
	}
	s.shown.Store(&served{html: b.Bytes(), report: o.Report, version: version, name: o.Version, rest: o.Rest, policy: p.policy, parts: o.Parts, listed: o.Listed, built: time.Now()})
	return nil
}

// ServeHTTP answers GET and HEAD requests that name this computer: a foreign
// name in Host means that a web site has had its own name point to the loopback
// address in order to read what is here.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now, h := s.shown.Load(), w.Header()
	h.Set("Content-Security-Policy", now.policy+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !loopbackHost(r.Host):
		http.Error(w, "this server answers to the names of the loopback interface only", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "read only", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		now.content(w, r, content{"text/html; charset=utf-8", now.html})
	case r.URL.Path == "/report.json":
		now.content(w, r, content{"application/json", now.report})
	case r.URL.Path == "/version.json":
		now.content(w, r, content{"application/json", now.version})
	case r.URL.Path == "/source.json" || r.URL.Path == "/code.json":
		now.more(w, r)
	case strings.HasPrefix(r.URL.Path, "/bundle/"):
		now.part(w, r, strings.TrimPrefix(r.URL.Path, "/bundle/"))
	default:
		http.NotFound(w, r)
	}
}

type content struct {
	kind string
	body []byte
}

func (s *served) content(w http.ResponseWriter, r *http.Request, c content) {
	w.Header().Set("Content-Type", c.kind)
	http.ServeContent(w, r, "", s.built, bytes.NewReader(c.body))
}

// more sends the source or the machine code of one function, which the request
// names by its index: names and paths are never taken from a request. A page of
// another recording, shown before, has other indices, and is told so.
func (s *served) more(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number := func(key string) int {
		n, err := strconv.Atoi(q.Get(key))
		if err != nil {
			return -1
		}
		return n
	}
	switch {
	case s.rest == nil:
		http.NotFound(w, r)
		return
	case q.Get("version") != s.name:
		http.Error(w, "the recording has changed since this page was made", http.StatusConflict)
		return
	}
	var body []byte
	var err error
	if r.URL.Path == "/source.json" {
		body, err = s.rest.Source(number("file"), number("line"))
	} else {
		body, err = s.rest.Code(number("function"))
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	s.content(w, r, content{"application/json", body})
}

// part sends a file of the recording, for go tool pprof and the like to open.
func (s *served) part(w http.ResponseWriter, r *http.Request, name string) {
	if s.parts == nil || !slices.Contains(s.listed, name) || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	body, err := fs.ReadFile(s.parts, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	// Never to be shown as a page of this origin, whatever it holds.
	w.Header().Set("Content-Disposition", "attachment")
	s.content(w, r, content{"application/octet-stream", body})
}

// loopbackHost reports whether the Host of a request is a name of the loopback
// interface, with or without a port.
func loopbackHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// Listen opens a port for a Server. It refuses every address that is not of the
// loopback interface.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: want host:port: %w", address, err)
	}
	if !loopbackHost(host) {
		return nil, fmt.Errorf("address %q is not of the loopback interface: a recording names files and functions, and the page has no password", address)
	}
	return net.Listen("tcp", address)
}
