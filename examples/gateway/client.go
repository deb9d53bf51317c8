package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// client calls the backend services. They live in the same process, so a call
// is an http.Handler's; a client for remote ones would differ in its transport
// only.
type client struct {
	http.Client
}

func newClient(services map[string]http.Handler) *client {
	return &client{http.Client{Transport: inProcess(services)}}
}

// inProcess is a RoundTripper that hands requests to handlers by host name.
type inProcess map[string]http.Handler

// RoundTrip runs the handler that serves the request's host.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	h, ok := p[r.URL.Host]
	if !ok {
		return nil, fmt.Errorf("no service %q", r.URL.Host)
	}
	answer := newCapture()
	h.ServeHTTP(answer, r)
	return &http.Response{
		StatusCode:    answer.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        answer.header,
		ContentLength: int64(answer.body.Len()),
		Body:          io.NopCloser(bytes.NewReader(answer.body.Bytes())),
		Request:       r,
	}, nil
}

// statusError is an answer of a backend that is not a success.
type statusError struct {
	service string
	status  int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.service, e.status, e.message)
}

// call is one request to a backend.
type call struct {
	method  string
	service string
	path    string
	query   url.Values
	body    any
}

// do makes the call on behalf of r and decodes the answer into out.
func (c *client) do(r *request, what call, out any) error {
	target := fmt.Sprintf("http://%s%s", what.service, what.path)
	if len(what.query) > 0 {
		target += "?" + what.query.Encode()
	}
	var body io.Reader
	if what.body != nil {
		data, err := json.Marshal(what.body)
		if err != nil {
			return fmt.Errorf("encode the request to %s: %w", what.service, err)
		}
		body = strings.NewReader(string(data))
	}
	req, err := http.NewRequestWithContext(r.Context(), what.method, target, body)
	if err != nil {
		return err
	}
	req.Header = forwardHeader(r)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", what.service, err)
	}
	text := string(data)
	if resp.StatusCode >= 300 {
		return &statusError{service: what.service, status: resp.StatusCode, message: strings.TrimSpace(text)}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("decode the answer of %s: %w", what.service, err)
	}
	return nil
}

// get fetches a path of a service as a JSON object.
func (c *client) get(r *request, service, path string) (map[string]any, error) {
	out := make(map[string]any)
	err := c.do(r, call{method: "GET", service: service, path: path}, &out)
	return out, err
}

// writeFailure passes a backend's failure on to the client.
func writeFailure(w http.ResponseWriter, err error) {
	var status *statusError
	if errors.As(err, &status) && status.status == http.StatusNotFound {
		writeError(w, http.StatusNotFound, "not found")
		return
	}
	writeError(w, http.StatusBadGateway, err.Error())
}
