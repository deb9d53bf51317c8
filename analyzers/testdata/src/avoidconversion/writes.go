package avoidconversion

import (
	"bufio"
	"bytes"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func writes(w io.Writer, rw http.ResponseWriter, bw *bufio.Writer, h hash.Hash, s string) {
	w.Write([]byte(s))                      // want `the string is copied to bytes to be written: io.WriteString`
	rw.Write([]byte("done"))                // want `io.WriteString`
	bw.Write([]byte(s))                     // want `bw.WriteString`
	h.Write([]byte("salt"))                 // want `a constant is copied to the heap on each call`
	w.Write([]byte(fmt.Sprintf("%08d", 1))) // want `fmt.Fprintf to the writer`
}

func writeStrings(b *bytes.Buffer, bw *bufio.Writer, p []byte, list []string, n int, t time.Time) {
	b.WriteString(string(p))                     // want `the bytes are copied to a string to be written: b.Write\(p\)`
	io.WriteString(bw, string(p))                // want `bw.Write\(p\)`
	b.WriteString(fmt.Sprintf("%08d", n))        // want `fmt.Fprintf to b`
	b.WriteString(strings.Join(list, ","))       // want `the joined string is made to be written`
	b.WriteString(strconv.Itoa(n))               // want `b.Write\(strconv.AppendInt\(b.AvailableBuffer\(\), …\)\)`
	bw.WriteString(strconv.Quote("x" + list[0])) // want `strconv.AppendQuote`
	b.WriteString(t.Format(time.RFC3339))        // want `t.AppendFormat`
}

func writesSilent(b *bytes.Buffer, sb *strings.Builder, c net.Conn, h hash.Hash, s string, p []byte) {
	b.Write([]byte(s)) // seen through: no copy
	c.Write([]byte(s)) // a connection takes no strings
	h.Write([]byte(s))
	sb.WriteString(strconv.Itoa(len(s))) // no AvailableBuffer
	b.WriteString(s)
	b.Write(p)
}

func searches(p, q []byte, re *regexp.Regexp, s string) (n int) {
	if strings.Contains(string(p), "needle") { // want `bytes.Contains takes them as they are`
		n++
	}
	if strings.HasPrefix(string(p), string(q)) { // want `bytes.HasPrefix`
		n++
	}
	if re.MatchString(string(p)) { // want `Match takes them as they are`
		n++
	}
	if strings.Contains(string(p), s) || string(p) == s { // the other side is a string
		n++
	}
	return n
}

func readers(s string, p []byte, send func(io.Reader)) {
	send(bytes.NewReader([]byte(s)))   // want `strings.NewReader\(s\) reads it in place`
	send(strings.NewReader(string(p))) // want `bytes.NewReader\(p\) reads them in place`
	send(bytes.NewBufferString(s))     // want `strings.NewReader reads it in place`
	_ = bytes.NewBufferString(s).Bytes()
}

func runes(s string) (n int) {
	for _, r := range []rune(s) { // want `range over s itself`
		n += int(r)
	}
	for i, r := range []rune(s) { // i counts runes
		n += i * int(r)
	}
	first := []rune(s)[0] // want `utf8.DecodeRuneInString\(s\)`
	return n + int(first) + len([]rune(s))
}

func roundTrips(p []byte, b *bytes.Buffer) ([]byte, []byte, []byte) {
	return []byte(string(p)), // want `bytes.Clone copies once`
		[]byte(b.String()), // want `b.Bytes\(\), or bytes.Clone`
		[]byte(fmt.Sprintf("%08d", 1)) // want `fmt.Appendf makes bytes`
}

func appends(dst []byte, n int, s string) []byte {
	dst = append(dst, strconv.Itoa(n)...)          // want `strconv.AppendInt appends without it`
	dst = append(dst, fmt.Sprintf("%08d", n)...)   // want `fmt.Appendf appends it`
	dst = append(dst, []byte(strconv.Quote(s))...) // want `strconv.AppendQuote`
	dst = append(dst, []byte(s)...)
	return append(dst, s...)
}

func folded(a, b string) bool {
	return strings.ToLower(a) == strings.ToLower(b) || // want `strings.ToLower makes a copy to be compared: strings.EqualFold`
		strings.ToUpper(a) != "YES" || // want `strings.EqualFold`
		strings.ToLower(a) == "Never" ||
		strings.ToLower(a) == b
}

type text struct{}

func (text) ToLower(s string) string { return s }

func shadowed(a, b string) bool {
	var strings text
	return strings.ToLower(a) == strings.ToLower(b)
}
