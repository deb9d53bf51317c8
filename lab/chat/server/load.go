package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// load is the clients: connections that all join rooms and then send messages
// at a fixed rate together, each when it is due and not when the one before has
// arrived.
type load struct {
	o      options
	send   []func(text []byte) bool
	text   string
	count  int64
	failed int64
	took   time.Duration
}

func newLoad(o options) *load {
	text := make([]byte, o.bytes)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return &load{o: o, text: string(text)}
}

// attach makes connections in memory and has the hub serve them.
func attach(h *hub, o options) *load {
	l := newLoad(o)
	closed := make(chan struct{})
	l.send = make([]func([]byte) bool, o.conns)
	for i := range l.send {
		c := newMemConn(closed)
		l.send[i] = c.send
		h.serve(c)
		c.send(l.join(i))
	}
	return l
}

func (l *load) join(i int) []byte {
	return fmt.Appendf(nil, "%c%d user%d\n", cmdJoin, i/l.o.room, i)
}

func (l *load) say(due time.Time) []byte {
	b := make([]byte, 0, len(l.text)+24)
	b = append(strconv.AppendInt(append(b, cmdSay), due.UnixNano(), 10), ' ')
	return append(append(b, l.text...), '\n')
}

// drive sends until ctx ends.
func (l *load) drive(ctx context.Context) {
	began := time.Now()
	defer func() { l.took = time.Since(began) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for {
			due := began.Add(time.Duration(float64(n) / l.o.rate * float64(time.Second)))
			if due.After(time.Now()) {
				break
			}
			n++
			if l.send[rand.IntN(len(l.send))](l.say(due)) {
				l.count++
			} else {
				l.failed++
			}
		}
	}
}

// report says how many messages there were, in the words of load tools.
func (l *load) report(w io.Writer) {
	if l.took > 0 {
		fmt.Fprintf(w, "%d requests in %.2fs, %d not sent\n", l.count, l.took.Seconds(), l.failed)
	}
}

// dial is the clients of a server in another process. With -for it ends after
// that time; a server that closes the connections ends it earlier.
func dial(ctx context.Context, o options, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.seconds)
	defer cancel()
	l := newLoad(o)
	var readers sync.WaitGroup
	var conns []net.Conn
	defer readers.Wait()
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range o.conns {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.dial)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i+1, err)
		}
		conns = append(conns, c)
		if _, err := c.Write(l.join(i)); err != nil {
			return err
		}
		readers.Go(func() {
			discard(c)
			cancel() // it ends for all
		})
		l.send = append(l.send, func(text []byte) bool {
			_, err := c.Write(text)
			return err == nil
		})
	}
	l.drive(ctx)
	l.report(stdout)
	return nil
}

// discard reads to the end, through a buffer smaller than that of io.Copy.
func discard(c net.Conn) {
	buf := make([]byte, 512)
	for {
		if _, err := c.Read(buf); err != nil {
			return
		}
	}
}
