package gctrace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const (
	mib        = unit.MiB
	forcedNote = " (forced)"
	// periodicNote stands on a line of its own before the cycle it speaks of.
	periodicNote = "GC forced"

	// maxTime bounds one time, so that sums stay in range: 18 years.
	maxTime  = time.Duration(1) << 59
	maxProcs = 1 << 20
)

// parseCycle reads one cycle from the start of b and returns how long its text
// is. The grammar is that of gcMarkTermination in runtime/mgc.go. whole says
// that b is the rest of a line that has its newline.
func parseCycle(b []byte, whole bool) (evidence.Cycle, int, error) {
	p := parser{b: b}
	var c evidence.Cycle
	p.literal("gc ")
	p.optional("#")
	c.N = int(p.integer(math.MaxUint32))
	p.literal(" @")
	start := p.time(time.Second)
	p.literal("s ")
	p.integer(math.MaxInt32) // share of CPU since the start; the times below are better
	p.literal("%")
	p.note()
	p.literal(": ")
	p.clock(&c)
	p.cpu(&c)
	c.HeapStart = p.megabytes("")
	p.arrow()
	c.HeapEnd = p.megabytes("")
	p.arrow()
	c.HeapLive = p.megabytes(" MB, ")
	c.Goal = p.megabytes(" MB goal, ")
	p.roots(&c)
	p.literal(" P")
	if p.err != nil {
		return c, 0, p.err
	}
	c.At = start + c.Wall.SweepTermination + c.Wall.ConcurrentMark + c.Wall.MarkTermination
	rest := b[p.at:]
	if bytes.HasPrefix(rest, []byte(forcedNote)) {
		c.Forced = true
		p.at += len(forcedNote)
	} else if !whole && len(rest) > 0 && bytes.HasPrefix([]byte(forcedNote), rest) {
		return c, 0, errors.New("cut off before it says whether it was forced")
	}
	return c, p.at, nil
}

// clock reads the wall-clock times. Go 1.5 had five phases: its scan was
// concurrent too, its installation of write barriers a second pause.
func (p *parser) clock(c *evidence.Cycle) {
	t, separators := p.times()
	p.literal(" ms clock, ")
	switch separators {
	case "++":
		c.Wall.SweepTermination, c.Wall.ConcurrentMark, c.Wall.MarkTermination = t[0], t[1], t[2]
	case "++++":
		c.Wall.SweepTermination, c.Wall.ConcurrentMark, c.Wall.MarkTermination = t[0]+t[2], t[1]+t[3], t[4]
	default:
		p.failf("want 3 clock times")
	}
}

// cpu reads the processor times: a pause, assists/workers/idle, a pause.
func (p *parser) cpu(c *evidence.Cycle) {
	t, separators := p.times()
	p.literal(" ms cpu, ")
	switch separators {
	case "+//+":
		c.Used.SweepTermination, c.Used.Assist, c.Used.Background, c.Used.Idle, c.Used.MarkTermination = t[0], t[1], t[2], t[3], t[4]
	case "+++//+":
		c.Used.SweepTermination, c.Used.MarkTermination = t[0]+t[2], t[6]
		c.Used.Assist, c.Used.Background, c.Used.Idle = t[3], t[4]+t[1], t[5]
	default:
		p.failf("want 5 processor times")
	}
}

// roots reads stacks and globals, which Go prints from 1.18 on, and the
// number of Ps.
func (p *parser) roots(c *evidence.Cycle) {
	n := p.integer(math.MaxInt64 >> 20)
	if p.err == nil && bytes.HasPrefix(p.b[p.at:], []byte(" MB stacks, ")) {
		p.literal(" MB stacks, ")
		c.Stacks = unit.Bytes(n) * mib
		c.Globals = p.megabytes(" MB globals, ")
		n = p.integer(maxProcs)
	}
	if n > maxProcs {
		p.failf("%d Ps are out of range", n)
	}
	c.Procs = int(n)
}

// parsePacer reads the line that endCycle in runtime/mgcpacer.go prints.
func parsePacer(b []byte) (*evidence.Pacer, int, error) {
	p := parser{b: b}
	var r evidence.Pacer
	p.literal("pacer: ")
	p.integer(math.MaxInt64)
	p.literal("% CPU (")
	p.integer(math.MaxInt64)
	p.literal(" exp.) for ")
	r.HeapScan = p.bytes("+")
	r.StackScan = p.bytes("+")
	r.GlobalScan = p.bytes(" B work (")
	p.bytes(" B exp.) in ")
	r.Trigger = p.bytes(" B -> ")
	r.End = p.bytes(" B (∆goal ")
	p.skipSign()
	p.integer(math.MaxInt64)
	p.literal(", cons/mark ")
	r.ConsMark = p.float()
	p.literal(")")
	if p.err != nil {
		return nil, 0, p.err
	}
	return &r, p.at, nil
}

// parser walks over a text. After its first error it reads nothing more and
// returns zeros, so that a grammar needs no branches.
type parser struct {
	b   []byte
	at  int
	err error
}

// failf keeps the first error, with its column from the start of the record.
func (p *parser) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("column %d of the record: %s", p.at+1, fmt.Sprintf(format, args...))
	}
}

func (p *parser) literal(s string) {
	if p.err != nil {
		return
	}
	if !bytes.HasPrefix(p.b[p.at:], []byte(s)) {
		p.failf("want %q", s)
		return
	}
	p.at += len(s)
}

func (p *parser) optional(s string) {
	if p.err == nil && bytes.HasPrefix(p.b[p.at:], []byte(s)) {
		p.at += len(s)
	}
}

// arrow reads "->", also as it stands in JSON that was made safe for HTML, as
// container logs are, and in HTML itself.
func (p *parser) arrow() {
	p.literal("-")
	for _, head := range []string{`\u003e`, `\u003E`, "&gt;"} {
		if p.err == nil && bytes.HasPrefix(p.b[p.at:], []byte(head)) {
			p.at += len(head)
			return
		}
	}
	p.literal(">")
}

// integer reads an unsigned decimal of at most limit.
func (p *parser) integer(limit int64) int64 {
	n := digits(p.b[p.at:])
	if p.err != nil {
		return 0
	}
	if n == 0 {
		p.failf("want a number")
		return 0
	}
	text := p.b[p.at : p.at+n]
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v > limit {
		p.failf("%s is out of range", text)
		return 0
	}
	p.at += n
	return v
}

func (p *parser) bytes(end string) unit.Bytes {
	v := p.integer(math.MaxInt64)
	p.literal(end)
	return unit.Bytes(v)
}

func (p *parser) megabytes(end string) unit.Bytes {
	v := p.integer(math.MaxInt64 >> 20)
	p.literal(end)
	return unit.Bytes(v) * mib
}

// time reads a decimal number of the given unit: digits, and perhaps a point
// and more digits. The runtime prints no exponent, sign or letter.
func (p *parser) time(of time.Duration) time.Duration {
	rest := p.b[p.at:]
	n := digits(rest)
	if n > 0 && n < len(rest) && rest[n] == '.' {
		n += 1 + digits(rest[n+1:])
	}
	if p.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(rest[:n]), 64)
	if err != nil {
		p.failf("want a time")
		return 0
	}
	ns := math.Round(v * float64(of))
	if ns > float64(maxTime) {
		p.failf("time %s is out of range", rest[:n])
		return 0
	}
	p.at += n
	return time.Duration(ns)
}

// times reads milliseconds and the signs between them, at most the seven of
// Go 1.5.
func (p *parser) times() (t [7]time.Duration, separators string) {
	var signs [6]byte
	n := 0
	for {
		t[n] = p.time(time.Millisecond)
		if p.err != nil || n == len(signs) || p.at == len(p.b) {
			break
		}
		if sign := p.b[p.at]; sign != '+' && sign != '/' {
			break
		}
		signs[n] = p.b[p.at]
		n++
		p.at++
	}
	return t, string(signs[:n])
}

// note passes over a remark such as " (checking for goroutine leaks)".
func (p *parser) note() {
	if p.err != nil || !bytes.HasPrefix(p.b[p.at:], []byte(" (")) {
		return
	}
	rest := p.b[p.at:]
	end := bytes.IndexByte(rest[:min(len(rest), 80)], ')')
	if end < 0 {
		p.failf("want %q", ")")
		return
	}
	p.at += end + 1
}

func (p *parser) skipSign() {
	if p.err == nil && p.at < len(p.b) && (p.b[p.at] == '-' || p.b[p.at] == '+') {
		p.at++
	}
}

// float reads a number as the runtime prints it: "+1.234567e-001". What is
// not finite is an error: the pacer had nothing to divide by.
func (p *parser) float() float64 {
	if p.err != nil {
		return 0
	}
	n := p.at
	for n < len(p.b) && (isDigit(p.b[n]) || bytes.IndexByte([]byte("+-.e"), p.b[n]) >= 0) {
		n++
	}
	v, err := strconv.ParseFloat(string(p.b[p.at:n]), 64)
	if err != nil {
		p.failf("want a finite number")
		return 0
	}
	p.at = n
	return v
}
