package written

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

const called = `package m

import (
	"io"
	"math/rand"
	"os"
	"time"
)

func source(seed int64, again bool) *rand.Rand {
	s := rand.NewSource(time.Now().UnixNano()) // yes
	now := time.Now().Unix()
	s = rand.NewSource(now) // yes
	other := time.Now().Unix()
	if again {
		other = seed
	}
	s = rand.NewSource(other) // -
	s = rand.NewSource(seed) // -
	s = rand.NewSource(time.Unix(seed, 0).UnixNano()) // -
	start := time.Now()
	s = rand.NewSource(start.Unix() + 1) // -
	_ = s
	_ = rand.New(rand.NewSource(42)) // -
	return rand.New(rand.NewSource(time.Now().UnixMicro())) // yes
}

func read(name string) int {
	text, _ := os.ReadFile(name) // yes
	f, _ := os.Open(name) // -
	n, _ := f.Read(text) // -
	text, _ = io.ReadAll(f) // yes
	return n
}
`

// TestCalls: sources that the clock seeds, and files and streams that are read whole.
func TestCalls(t *testing.T) {
	holds(t, called, func(p idiom.Place) string {
		if ofClock(p) || readsFile(p) || readsAll(p) {
			return "yes"
		}
		return ""
	})
}

const many = `package m

import "io"

type set[T comparable] interface {
	contains(v ...T) bool
	log(v ...any)
	in(name string, v ...int) bool
}

type list []string

func (l list) contains(v ...string) bool { return len(l) > len(v) }

func ask(s set[string], l list, all []string, closers func(c ...io.Closer)) bool {
	a := s.contains("a") // s.contains
	b := s.in("n", 1) // s.in
	c := s.contains("a", "b") // -
	d := s.contains(all...) // -
	e := l.contains("a") // -
	s.log("a") // -
	f := s.contains() // -
	closers(nil) // -
	return a && b && c && d && e && f
}

func generic[T comparable](s set[T], v T) bool {
	return s.contains(v) // s.contains
}
`

// TestOneOfMany: methods of interfaces that take any number of values, and get one.
func TestOneOfMany(t *testing.T) { holds(t, many, oneOfMany) }

const decoded = `package m

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
)

var enc = base32.StdEncoding

func decode(src []byte) []byte {
	a := make([]byte, enc.EncodedLen(len(src))) // enc.DecodedLen(len(src))
	n, _ := enc.Decode(a, src)
	b := make([]byte, len(src)) // base64.StdEncoding.DecodedLen(len(src))
	m, _ := base64.StdEncoding.Decode(b, src)
	c := make([]byte, len(src)) // hex.DecodedLen(len(src))
	k, _ := hex.Decode(c, src)
	d := make([]byte, enc.DecodedLen(len(src))) // -
	enc.Decode(d, src)
	e := make([]byte, enc.EncodedLen(len(src))) // -
	enc.Encode(e, src)
	f := make([]byte, len(src)+1) // -
	hex.Decode(f, src)
	return append(a[:n], append(b[:m], c[:k]...)...)
}
`

// TestDecodedSize: slices that are longer than the decoded text.
func TestDecodedSize(t *testing.T) { holds(t, decoded, decodedSize) }

const ownCalls = `package m

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

func deflate(w io.Writer, in []byte, last bool) error { return nil }

func own(w io.Writer, r io.Reader, b []byte, v any) {
	deflate(w, b, true) // yes
	os.WriteFile("x", b, 0o666) // yes
	n, _ := strconv.Atoi("1") // yes
	io.Copy(w, r) // -
	fmt.Fprintln(w, n) // -
	json.Unmarshal(b, v) // -
	w.Write(b) // -
	_ = hex.EncodeToString(b) // -
	_ = string(b) // -
}
`

// TestOnlyForItself: functions that cannot keep memory.
func TestOnlyForItself(t *testing.T) {
	holds(t, ownCalls, func(p idiom.Place) string {
		if OnlyForItself(p) {
			return "yes"
		}
		return ""
	})
}
