package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// terminal says what a stream can show. Anything that is not a terminal gets
// plain text of a fixed width.
type terminal struct {
	width int
	is    bool
}

// plainWidth is the width of output that goes to a file or a pipe.
const plainWidth = 120

func terminalOf(w io.Writer) terminal {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return terminal{width: plainWidth}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = plainWidth
	}
	return terminal{width: width, is: true}
}

// color follows no-color.org: any non-empty NO_COLOR turns it off.
func (t terminal) color() bool { return t.escapes() && os.Getenv("NO_COLOR") == "" }

// escapes reports whether escape sequences do something.
func (t terminal) escapes() bool { return t.is && os.Getenv("TERM") != "dumb" }

// progress shows one line of what is going on, rewritten in place, and how
// long it has been going on. Without a terminal that can rewrite it says nothing.
type progress struct {
	mu     sync.Mutex
	w      io.Writer
	term   terminal
	start  time.Time
	line   string
	ticker *time.Ticker
	done   chan struct{}
	ended  sync.WaitGroup
}

func newProgress(w io.Writer) *progress { return startProgress(w, terminalOf(w), time.Second) }

// startProgress draws the line anew in every period.
func startProgress(w io.Writer, t terminal, period time.Duration) *progress {
	p := &progress{w: w, term: t, start: time.Now(), done: make(chan struct{})}
	if !p.term.escapes() {
		return p
	}
	p.ticker = time.NewTicker(period)
	p.ended.Add(1)
	go p.tick()
	return p
}

func (p *progress) tick() {
	defer p.ended.Done()
	for {
		select {
		case <-p.done:
			return
		case <-p.ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// Printf replaces the line.
func (p *progress) Printf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = harmless(fmt.Sprintf(format, args...))
	p.draw()
}

// Say prints a line that stays above the one that is rewritten.
func (p *progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.term.escapes() {
		return
	}
	text := harmless(fmt.Sprintf(format, args...))
	if r := []rune(text); len(r) >= p.term.width {
		text = string(r[:p.term.width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s\n", text)
	p.draw()
}

func (p *progress) draw() {
	if !p.term.escapes() || p.line == "" {
		return
	}
	text := fmt.Sprintf("%3.0fs  %s", time.Since(p.start).Seconds(), p.line)
	if r := []rune(text); len(r) >= p.term.width {
		text = string(r[:p.term.width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// Close clears the line and ends the ticker. It may be called twice.
func (p *progress) Close() {
	if p.ticker == nil {
		return
	}
	p.ticker.Stop()
	close(p.done)
	p.ended.Wait()
	p.ticker = nil
	fmt.Fprint(p.w, "\r\x1b[K")
}
