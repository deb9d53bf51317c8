package main

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxMessage bounds a line of the protocol.
const maxMessage = 1 << 10

// hub is the chat server: its rooms, and what it has done.
type hub struct {
	o       options
	mu      sync.Mutex
	rooms   map[int]*room
	joined  atomic.Int64
	sent    atomic.Int64 // messages received from clients
	written atomic.Int64 // messages written to clients
	dropped atomic.Int64 // for members that were slow
	latency histogram    // from when a message was due to when a member had it
}

func newHub(o options) *hub { return &hub{o: o, rooms: map[int]*room{}} }

// room is the sessions that see each other's messages.
type room struct {
	mu      sync.Mutex
	members []*session
}

// message is one line on its way to the members of a room. It is shared and
// never changed.
type message struct {
	from string
	text string
	due  int64 // Unix time in nanoseconds at which the client was to send it
}

// session is one connection. Three goroutines serve it: read takes lines
// apart, run keeps its state, write sends what it is told.
type session struct {
	hub   *hub
	conn  net.Conn
	nick  string
	room  *room
	lines chan line
	out   chan *message
}

// line is what a client said.
type line struct {
	command byte
	number  int64
	text    string
}

// The commands, first bytes of a line: a number follows, then text.
const (
	cmdJoin = 'J' // J<room> <nick>
	cmdSay  = 'S' // S<due> <text>
	cmdPong = 'P' // P0
)

func (h *hub) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed
		}
		h.serve(c)
	}
}

// serve starts the three goroutines of a connection.
func (h *hub) serve(c net.Conn) {
	s := &session{hub: h, conn: c, lines: make(chan line, 1), out: make(chan *message, 8)}
	go s.read()
	go s.run()
	go s.write()
}

// await returns when n sessions have joined their rooms.
func (h *hub) await(ctx context.Context, n int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for h.joined.Load() < int64(n) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (s *session) read() {
	defer close(s.lines)
	r := lineReader{r: s.conn}
	for {
		text, err := r.next()
		if err != nil {
			return
		}
		if l, ok := parse(text); ok {
			s.lines <- l
		}
	}
}

// parse takes a line apart; false for one that is not of the protocol.
func parse(text string) (line, bool) {
	if text == "" {
		return line{}, false
	}
	l := line{command: text[0]}
	number := text[1:]
	for i := range len(number) {
		if number[i] == ' ' {
			number, l.text = number[:i], number[i+1:]
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	l.number = n
	return l, err == nil
}

// run is the session: it alone knows the state of the connection.
func (s *session) run() {
	ping := time.NewTimer(s.hub.o.ping)
	defer ping.Stop()
	defer s.leave()
	for {
		select {
		case l, ok := <-s.lines:
			if !ok {
				return
			}
			s.obey(l)
		case <-ping.C:
			s.deliver(&message{from: "server", text: "ping", due: time.Now().UnixNano()})
			ping.Reset(s.hub.o.ping)
		}
	}
}

func (s *session) obey(l line) {
	switch l.command {
	case cmdJoin:
		if s.room == nil {
			s.nick = l.text
			s.room = s.hub.roomOf(int(l.number))
			s.room.add(s)
			s.hub.joined.Add(1)
		}
	case cmdSay:
		if s.room != nil {
			s.hub.sent.Add(1)
			s.room.say(&message{from: s.nick, text: l.text, due: l.number})
		}
	}
}

func (s *session) leave() {
	s.conn.Close()
	if s.room != nil {
		s.room.remove(s)
		s.hub.joined.Add(-1)
	}
	// Nobody can deliver any more: members of the room only do.
	close(s.out)
}

// deliver hands a message to the writer. What a slow client cannot take in time
// is lost, rather than holding up the room.
func (s *session) deliver(m *message) {
	select {
	case s.out <- m:
	default:
		s.hub.dropped.Add(1)
	}
}

func (s *session) write() {
	for m := range s.out {
		// A new frame for each: the nickname of the receiver is in it.
		frame := make([]byte, 0, len(m.from)+len(m.text)+len(s.nick)+4)
		frame = append(append(append(frame, ':'), m.from...), ' ')
		frame = append(append(frame, s.nick...), ' ')
		frame = append(append(frame, m.text...), '\n')
		if _, err := s.conn.Write(frame); err != nil {
			continue // the reader sees it too, and ends the session
		}
		s.hub.written.Add(1)
		s.hub.latency.add(time.Duration(time.Now().UnixNano() - m.due))
	}
}

func (h *hub) roomOf(n int) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[n]
	if r == nil {
		r = &room{}
		h.rooms[n] = r
	}
	return r
}

func (r *room) add(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = append(r.members, s)
}

func (r *room) remove(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range r.members {
		if m == s {
			last := len(r.members) - 1
			r.members[i], r.members[last] = r.members[last], nil
			r.members = r.members[:last]
			return
		}
	}
}

func (r *room) say(m *message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.members {
		s.deliver(m)
	}
}

// lineReader reads lines through a buffer that is as small as the longest: with
// half a million connections, larger ones would be most of the heap.
type lineReader struct {
	r    io.Reader
	buf  []byte
	from int
	to   int
}

// next returns the next line without its end.
func (l *lineReader) next() (string, error) {
	if l.buf == nil {
		l.buf = make([]byte, 256)
	}
	for at := l.from; ; {
		for ; at < l.to; at++ {
			if l.buf[at] == '\n' {
				text := string(l.buf[l.from:at])
				l.from = at + 1
				return text, nil
			}
		}
		if l.from > 0 {
			copy(l.buf, l.buf[l.from:l.to])
			at, l.to, l.from = at-l.from, l.to-l.from, 0
		}
		if l.to == len(l.buf) {
			if len(l.buf) > 2*maxMessage {
				return "", io.ErrShortBuffer
			}
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
		n, err := l.r.Read(l.buf[l.to:])
		if n == 0 && err != nil {
			return "", err
		}
		l.to += n
	}
}
