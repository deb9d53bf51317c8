package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestParse(t *testing.T) {
	f := func(text string, want line, ok bool) {
		t.Helper()
		if got, gotOK := parse(text); gotOK != ok || ok && got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v, %v", text, got, gotOK, want, ok)
		}
	}
	f("J7 ann", line{cmdJoin, 7, "ann"}, true)
	f("S123 hello there", line{cmdSay, 123, "hello there"}, true)
	f("P0", line{cmdPong, 0, ""}, true)
	f("S-1 ", line{cmdSay, -1, ""}, true)
	f("", line{}, false)
	f("S", line{}, false)
	f("Shello", line{}, false)
	f("S99999999999999999999 x", line{}, false)
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 700)
	in := "one\n\n" + long + "\nlast\n"
	want := []string{"one", "", long, "last"}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)), "halves": iotest.HalfReader(strings.NewReader(in)),
	} {
		l := lineReader{r: r}
		for i, w := range want {
			if got, err := l.next(); got != w || err != nil {
				t.Errorf("%s, line %d: %.20q, %v, want %.20q", name, i+1, got, err, w)
			}
		}
		if _, err := l.next(); err != io.EOF {
			t.Errorf("%s: at the end %v", name, err)
		}
	}
	l := lineReader{r: strings.NewReader(strings.Repeat("y", 1<<20))}
	if _, err := l.next(); err != io.ErrShortBuffer {
		t.Errorf("an endless line: %v", err)
	}
}

// TestRoom lets four clients talk over real connections.
func TestRoom(t *testing.T) {
	h := newHub(options{ping: time.Hour})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	go h.accept(l)
	var clients []net.Conn
	for i, room := range []int{1, 1, 1, 2} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Minute))
		fmt.Fprintf(c, "J%d user%d\n", room, i)
		clients = append(clients, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := h.await(ctx, 4); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(clients[1], "nonsense\nS%d hello\n", time.Now().UnixNano())
	for i := range 3 {
		r := lineReader{r: clients[i]}
		if got, err := r.next(); got != fmt.Sprintf(":user1 user%d hello", i) || err != nil {
			t.Errorf("client %d: %q, %v", i, got, err)
		}
	}
	clients[0].Close()
	for h.joined.Load() != 3 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if one, two := members(h.roomOf(1)), members(h.roomOf(2)); one != 2 || two != 1 {
		t.Errorf("members %d and %d, want 2 and 1", one, two)
	}
}

func members(r *room) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.members)
}

// TestMemory runs a small measurement: three goroutines a connection, every
// message delivered to every member, and a collector that has run.
func TestMemory(t *testing.T) {
	var out bytes.Buffer
	args := strings.Fields("-memory -conns 2000 -rate 2000 -for 500ms -settle 100ms -gogc 5")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if status := run(ctx, time.Now(), args, &out); status != 0 {
		t.Fatalf("status %d", status)
	}
	var got struct{ Result result }
	if err := json.NewDecoder(&out).Decode(&got); err != nil {
		t.Fatal(err)
	}
	r := got.Result
	if r.Go != runtime.Version() || r.Conns != 2000 || r.Goroutines < 6000 || r.Live == 0 || r.Stacks == 0 {
		t.Errorf("got %+v", r)
	}
	// The last messages of the window may be under way at its ends.
	if r.Sent < 100 || float64(r.Delivered+r.Dropped) < 0.5*10*float64(r.Sent) || len(r.Latency) == 0 {
		t.Errorf("%d messages made %d deliveries, %d dropped", r.Sent, r.Delivered, r.Dropped)
	}
	pauses := uint64(0)
	for _, b := range r.Pauses {
		pauses += b.Count
	}
	if r.Cycles == 0 || pauses < r.Cycles || r.To-r.From < 0.5 {
		t.Errorf("%d cycles, %d pauses in %v s", r.Cycles, pauses, r.To-r.From)
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for v := uint64(1); v < 1<<40; v = v*5/4 + 1 {
		h.clear()
		h.add(time.Duration(v))
		bins, most := h.bins()
		if len(bins) != 1 || bins[0].Count != 1 {
			t.Fatalf("%d: %v", v, bins)
		}
		if upto := bins[0].Upto * 1e9; upto < float64(v) || upto > float64(v)*1.13+1 || most != float64(v)/1e9 {
			t.Errorf("%d is in the bucket up to %v, largest %v", v, upto, most*1e9)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"", "-memory", "-memory -listen :0", "-memory -conns -1", "-memory -conns 1 -bytes 9999", "-dial x"} {
		if status := run(t.Context(), time.Now(), strings.Fields(args), io.Discard); status != 1 {
			t.Errorf("%q: status %d, want 1", args, status)
		}
	}
}
