// Package progress shows on a terminal what is going on, in one line that is rewritten in place.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	report "github.com/heaptrim/heaptrim/internal/report/term"
)

// Terminal says what a stream can show. Anything that is not a terminal gets
// plain text of a fixed width.
type Terminal struct {
	Width int
	Is    bool // a terminal
}

// plainWidth is the width of output that goes to a file or a pipe.
const plainWidth = 120

// TerminalOf says what a stream can show.
func TerminalOf(w io.Writer) Terminal {
	if s, ok := w.(*Stream); ok {
		w = s.W
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Terminal{Width: plainWidth}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = plainWidth
	}
	return Terminal{Width: width, Is: true}
}

// Color follows no-color.org: any non-empty NO_COLOR turns it off.
func (t Terminal) Color() bool { return t.Escapes() && os.Getenv("NO_COLOR") == "" }

// Escapes reports whether escape sequences do something.
func (t Terminal) Escapes() bool { return t.Is && os.Getenv("TERM") != "dumb" }

// Line shows one line of what is going on, rewritten in place, and how
// long it has been going on. Without a terminal that can rewrite it says only once what is to come,
// if that takes long.
type Line struct {
	mu     sync.Mutex
	w      io.Writer
	term   Terminal
	start  time.Time
	line   string
	ticker *time.Ticker
	done   chan struct{}
	ended  sync.WaitGroup
}

// New starts a line on a stream.
func New(w io.Writer) *Line { return start(w, TerminalOf(w), time.Second) }

// start draws the line anew in every period.
func start(w io.Writer, t Terminal, period time.Duration) *Line {
	p := &Line{w: w, term: t, start: time.Now(), done: make(chan struct{})}
	if !p.term.Escapes() {
		return p
	}
	p.ticker = time.NewTicker(period)
	p.ended.Add(1)
	go p.tick()
	return p
}

func (p *Line) tick() {
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

// Writer is the stream that the line is on.
func (p *Line) Writer() io.Writer { return p.w }

// Printf replaces the line.
func (p *Line) Printf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = report.CleanLines(fmt.Sprintf(format, args...))
	p.draw()
}

// Say prints a line that stays above the one that is rewritten.
func (p *Line) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.term.Escapes() {
		return
	}
	text := report.CleanLines(fmt.Sprintf(format, args...))
	if r := []rune(text); len(r) >= p.term.Width {
		text = string(r[:p.term.Width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s\n", text)
	p.draw()
}

func (p *Line) draw() {
	if !p.term.Escapes() || p.line == "" {
		return
	}
	text := fmt.Sprintf("%3.0fs  %s", time.Since(p.start).Seconds(), p.line)
	if r := []rune(text); len(r) >= p.term.Width {
		text = string(r[:p.term.Width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// Announce says what is to come, on a line of its own where no line can be rewritten.
func (p *Line) Announce(text string) {
	if p.term.Escapes() {
		p.Printf("%s", text)
		return
	}
	fmt.Fprintf(p.w, "heaptrim: %s\n", report.CleanLines(text))
}

// Close clears the line and ends the ticker. It may be called twice.
func (p *Line) Close() {
	if p.ticker == nil {
		return
	}
	p.ticker.Stop()
	close(p.done)
	p.ended.Wait()
	p.ticker = nil
	fmt.Fprint(p.w, "\r\x1b[K")
}
