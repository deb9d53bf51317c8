package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// pprofServer accesses the net/http/pprof of a service.
type pprofServer struct {
	base     url.URL // its path ends in /debug/pprof/
	client   http.Client
	timeout  time.Duration
	maxBytes unit.Bytes
	stalled  atomic.Bool // the last request that ended had no answer in time
}

// query is one request.
type query struct {
	path  string        // below the base
	args  string        // such as "seconds=5"
	takes time.Duration // time that the server needs by design
}

func newPprofServer(o Options) (*pprofServer, error) {
	base, err := pprofBase(o.URL)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: min(o.Timeout, 10*time.Second)}).DialContext
	// Profiles are compressed already, and the size limit applies to the text as sent.
	transport.DisableCompression = true
	// No connection stays open in the service after the recording.
	transport.DisableKeepAlives = true
	return &pprofServer{base: *base, client: http.Client{Transport: transport, CheckRedirect: sameHost},
		timeout:  o.Timeout,
		maxBytes: o.MaxBytes}, nil
}

// errElsewhere marks a redirect to another host, which is not followed. The answers
// would come from a service other than the one in the manifest, and that service would
// see the query, which may hold a token.
var errElsewhere = errors.New("it redirects to another host, which is not followed; use that address if it is the " +
	"service's own")

// sameHost rejects redirects away from the host of the first request.
func sameHost(req *http.Request, via []*http.Request) error {
	switch first := via[0].URL; {
	case req.URL.Host != first.Host || req.URL.Scheme != first.Scheme && req.URL.Scheme != "https":
		return fmt.Errorf("%w (%s://%s)", errElsewhere, req.URL.Scheme, req.URL.Host)
	case len(via) >= 5:
		return errors.New("too many redirects")
	}
	return nil
}

// pprofBase turns the address that a user gave, from "localhost:6060" to the address
// of one profile, into the address of the pprof index.
func pprofBase(given string) (*url.URL, error) {
	text := given
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the address and its password
		}
		return nil, fmt.Errorf("not the address of a service: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s: only http and https can be recorded from", u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("%q names no host: want something like http://localhost:6060", given)
	case u.Hostname() == "":
		u.Host = "localhost" + u.Host
	}
	const index = "/debug/pprof"
	before, after, found := strings.Cut(u.Path, index)
	if found && (after == "" || after[0] == '/') {
		u.Path = before + index + "/"
		if strings.Trim(after, "/") != "" {
			u.RawQuery = "" // belongs to the one profile
		}
	} else {
		u.Path = strings.TrimSuffix(u.Path, "/") + index + "/"
	}
	u.RawPath, u.Fragment = "", ""
	return u, nil
}

// String returns the address without its password and without the values of its query,
// which may hold a token.
func (s *pprofServer) String() string { return s.show(query{}) }

// show returns the address of a request in a form that messages may print.
func (s *pprofServer) show(q query) string {
	u := s.base
	args := u.Query()
	for key := range args {
		args.Set(key, "xxxxx")
	}
	u.Path += q.path
	u.RawQuery = joinQuery(args.Encode(), q.args)
	return u.Redacted()
}

func joinQuery(a, b string) string { return strings.Trim(a+"&"+b, "&") }

// get writes the answer to q to w. Where the cause is known, the error says what to
// do.
func (s *pprofServer) get(ctx context.Context, q query, w io.Writer) error {
	limit := s.limit(q)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() { s.stalled.Store(limited.Err() != nil && ctx.Err() == nil) }()
	u := s.base
	u.Path += q.path
	u.RawQuery = joinQuery(u.RawQuery, q.args)
	req, err := http.NewRequestWithContext(limited, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return s.explain(ctx, q, limit, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return s.refused(q, resp)
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, int64(s.maxBytes)+1))
	if err != nil {
		return s.explain(ctx, q, limit, err)
	}
	if n > int64(s.maxBytes) {
		return fmt.Errorf("%s: the answer is larger than the limit of %v", s.show(q), s.maxBytes)
	}
	return nil
}

// limit is how long a request may take. A service that let one run out of time gets
// little for the next ones: with full time for each, a stopped service would hold the
// recording for minutes.
func (s *pprofServer) limit(q query) time.Duration {
	if s.stalled.Load() {
		return q.takes + min(s.timeout, stalledTimeout)
	}
	return q.takes + s.timeout
}

const stalledTimeout = 2 * time.Second

// explain turns a failed exchange into an error that says what it means. ctx is the
// recording's own.
func (s *pprofServer) explain(ctx context.Context, q query, limit time.Duration, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // without the address and its secrets
	}
	var unknown *net.DNSError
	var header tls.RecordHeaderError
	host := s.base.Host
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is the service running, and is this the port of its "+
			"net/http/pprof? (%w)", host, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the host %s is not known: %w", s.base.Hostname(), err)
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fmt.Errorf("%s: no full answer within %v; the service may be stopped or overloaded (%w)", s.show(q), limit, err)
	case errors.As(err, &header):
		return fmt.Errorf("%s does not speak https: %w", host, err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s: the connection ended in the middle of the answer: %w", s.show(q), err)
	}
	return fmt.Errorf("%s: %w", s.show(q), err)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// errNoPprof marks an answer of 404.
var errNoPprof = errors.New("net/http/pprof is not served there: import it in the service, or use the address that " +
	"has it")

// refused returns what an answer other than 200 means. It quotes the first line of the
// text if that is short enough to be a message.
func (s *pprofServer) refused(q query, resp *http.Response) error {
	text := firstLine(resp.Body)
	at := fmt.Sprintf("%s answers %q", s.show(q), resp.Status)
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", at, errNoPprof)
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: it wants a login; use http://user:password@host", at)
	case strings.Contains(text, "profiling already in use"):
		return fmt.Errorf("%s: another CPU profile of this process is being taken, perhaps by a continuous "+
			"profiler; stop that one or try again later (%s)", at, text)
	case strings.Contains(text, "tracing is already enabled"):
		return fmt.Errorf("%s: another execution trace of this process is being taken; try again later (%s)", at, text)
	case strings.Contains(text, "WriteTimeout"):
		return fmt.Errorf("%s: the window is longer than the service's WriteTimeout allows; record for a shorter "+
			"time (%s)", at, text)
	case text == "":
		return errors.New(at)
	}
	return fmt.Errorf("%s: %s", at, text)
}

// firstLine returns the first line of plain text in r, at most 200 bytes.
func firstLine(r io.Reader) string {
	head := make([]byte, 200)
	n, _ := io.ReadFull(r, head) // after an error there is less to quote
	line, _, _ := strings.Cut(strings.TrimSpace(string(head[:n])), "\n")
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "<") {
		return "" // an HTML page
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '\uFFFD' {
			return -1
		}
		return c
	}, line)
}

// probe checks early whether there is anything to record. A service that serves single
// profiles without the index is accepted too. One that answers everything with a page of its
// own is not.
func (s *pprofServer) probe(ctx context.Context) error {
	index := &headBuffer{max: maxIndex}
	err := s.get(ctx, query{}, index)
	switch {
	case errors.Is(err, errNoPprof):
		return s.get(ctx, query{path: "allocs"}, io.Discard)
	case err != nil || bytes.Contains(index.head, []byte("profile")):
		return err
	}
	profile := &headBuffer{max: len(gzipHead)}
	if err := s.get(ctx, query{path: "allocs"}, profile); err != nil {
		return err
	}
	if string(profile.head) != gzipHead {
		return fmt.Errorf("%s answers with something else than profiles: %w", s, errNoPprof)
	}
	return nil
}

// gzipHead begins every profile.
const gzipHead = "\x1f\x8b"

// headBuffer keeps the first bytes that are written to it.
type headBuffer struct {
	head []byte
	max  int
}

// Write implements io.Writer.
func (b *headBuffer) Write(p []byte) (int, error) {
	b.head = append(b.head, p[:min(len(p), b.max-len(b.head))]...)
	return len(p), nil
}

// command returns the service's command line.
func (s *pprofServer) command(ctx context.Context) ([]string, error) {
	var text bytes.Buffer
	err := s.get(ctx, query{path: "cmdline"}, &limitedBuffer{&text, maxCommand})
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\x00"), "\x00"), nil
}

// goroutineRow matches the line of the index page with the number of goroutines.
var goroutineRow = regexp.MustCompile(`<td>(\d+)</td>\s*<td><a href=['"]?goroutine\?`)

// goroutines reads the number of goroutines from the index page.
func (s *pprofServer) goroutines(ctx context.Context) (int64, error) {
	var page bytes.Buffer
	if err := s.get(ctx, query{}, &limitedBuffer{&page, maxIndex}); err != nil {
		return 0, err
	}
	m := goroutineRow.FindSubmatch(page.Bytes())
	if m == nil {
		return 0, errors.New("the index page has no number of goroutines")
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}

// maxIndex is far above the 6 KB that the index page has.
const maxIndex = 1 << 20

// maxCommand bounds a command line; Linux allows 2 MiB in total.
const maxCommand = 2 << 20

// limitedBuffer rejects writes beyond its limit.
type limitedBuffer struct {
	*bytes.Buffer
	max int
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, fmt.Errorf("the answer is longer than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}
