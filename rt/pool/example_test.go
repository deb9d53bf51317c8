package pool_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// Declare a pool where it is used; it needs no construction.
var buffers pool.Bytes

func ExampleBytes() {
	b := buffers.Get(5)
	defer buffers.Put(b)
	copy(b, "hello")
	fmt.Println(string(b), len(b), cap(b))
	// Output: hello 5 64
}

// A worker that gets and puts a lot borrows a cache of its own.
func ExampleBytes_Local() {
	local := buffers.Local()
	defer local.Release()
	total := 0
	for i := range 1000 {
		b := local.Get(i)
		total += len(b)
		local.Put(b)
	}
	fmt.Println(total)
	// Output: 499500
}

// A gzip.Reader is 40 KB; the reader below it comes along.
type unzipper struct {
	src bytes.Reader
	zip gzip.Reader
}

var unzippers = pool.Of[unzipper]{
	// Let go of the data.
	Reset: func(u *unzipper) { u.src.Reset(nil) },
}

func ExampleOf() {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, "how now brown cow")
	w.Close()

	u := unzippers.Get()
	defer unzippers.Put(u)
	u.src.Reset(z.Bytes())
	if err := u.zip.Reset(&u.src); err != nil {
		fmt.Println(err)
		return
	}
	var text strings.Builder
	io.Copy(&text, &u.zip)
	fmt.Println(text.String())
	// Output: how now brown cow
}

// A pool of a well-known type: what has grown too large is left to the collector.
func ExampleOf_keep() {
	texts := pool.Of[bytes.Buffer]{
		Reset: (*bytes.Buffer).Reset,
		Keep:  func(b *bytes.Buffer) bool { return b.Cap() <= 64<<10 },
	}
	text := texts.Get()
	defer texts.Put(text)
	fmt.Fprintf(text, "%d bottles", 99)
	fmt.Println(text)
	// Output: 99 bottles
}

func ExampleValues() {
	rows := pool.Values[[]int]{New: func() []int { return make([]int, 0, 100) }}
	row := rows.Get()
	row = append(row, 1, 2, 3)
	fmt.Println(len(row))
	rows.Put(row[:0])
	// Output: 3
}
