package watch

import (
	"fmt"
	"io"
	"strings"
)

// Web registers what makes the standard client of HTTP ask Answer in place of a server. It is called
// before functions are.
func (s *Session) Web(begin func()) { s.of.web = begin }

// offline makes requests of the standard client stay in the process.
func (s *Session) offline() {
	if s.of.web == nil {
		return
	}
	s.of.web()
}

// Answer is a server's answer to a request, which says all of it: a status, fields of the header, and a
// body. What it says follows from the request.
func (s *Session) Answer(request string) (status int, header map[string]string, body io.ReadCloser) {
	p := s.player(Scenario{Genome: []byte(digest([]byte(request)) + request)})
	p.quiet, p.making = true, 3
	states := [...]int{200, 200, 200, 200, 200, 404, 500, 204}
	status = states[p.n(len(states))]
	header = map[string]string{"Content-Type": p.field()}
	for _, w := range s.plan.Near.Words {
		if !strings.ContainsAny(w, " \n/:%") && len(w) < 40 {
			header[w] = p.field()
		}
	}
	r := &reader{data: p.bytes(), chunk: 1 + p.n(40), fail: p.n(8) == 0}
	if !s.plan.Race {
		s.of.answers = append(s.of.answers, r)
	}
	return status, header, r
}

// field is the value of a field of a header: of the words near the change, as they are, a little changed,
// or with parameters.
func (p *player) field() string {
	w := p.word()
	if near := p.s.plan.Near.Words; len(near) > 0 && p.n(4) != 0 {
		w = near[p.n(len(near))]
	}
	switch p.n(4) {
	case 0:
		return p.changed(w)
	case 1:
		for range 1 + p.n(2) {
			w += p.mark() + p.letters()
		}
	}
	return w
}

// answered notes what became of the answers that the calls got.
func (p *player) answered() {
	for i, r := range p.s.of.answers {
		p.note(fmt.Sprintf("answer %d", i), r.shown())
	}
	p.s.of.answers = nil
}
