package poolobject

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand"
	"net/http"
	"os"
	"time"
)

func pack(p []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf) // want `a compressor with tables of several hundred KiB is made for one use`
	z.Write(p)
	z.Close()
	return buf.Bytes()
}

func answer(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body) // want `a decompressor with a window of 32 KiB is made for one use`
	if err != nil {
		return
	}
	io.Copy(w, z)
}

func all(parts []io.Reader, w io.Writer) {
	for _, p := range parts {
		z := flate.NewReader(p) // want `a decompressor`
		io.Copy(w, z)
		z.Close()
	}
}

func bind(r *http.Request, v any) error {
	return json.NewDecoder(r.Body).Decode(v) // want `a decoder with a read buffer of its own is made for each request`
}

func parse(p []byte, v any) error {
	return json.NewDecoder(bytes.NewReader(p)).Decode(v) // want `json.Unmarshal reads it in place`
}

func dice() int {
	return rand.New(rand.NewSource(time.Now().UnixNano())).Intn(6) // want `a generator with 5 KiB of state is made and seeded on each call`
}

type tables struct{ a [64 << 10]uint32 }

func scratch() uint32 {
	var t tables // want `t has 256 KiB, more than the stack takes`
	return t.a[7]
}

// Silent from here on.

func kept(w io.Writer) *gzip.Writer { return gzip.NewWriter(w) }

func file(f *os.File, w io.Writer) error {
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}

type page struct{ z *gzip.Writer }

func stored(buf *bytes.Buffer) *page { return &page{z: gzip.NewWriter(buf)} }

func strict(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func stream(r io.Reader, v any) error { return json.NewDecoder(r).Decode(v) }

func seeded(seed int64) int { return rand.New(rand.NewSource(seed)).Intn(6) }

func many() (n int) {
	r := rand.New(rand.NewSource(time.Now().UnixNano()))
	for range 1000 {
		n += r.Intn(6)
	}
	return n
}

func small() uint32 {
	var t [1 << 10]uint32
	return t[7]
}

func newTables() *tables {
	var t tables
	return &t
}

func generic[T any]() (t T) {
	var a [1 << 20]T
	return a[0]
}

type zip struct{}

func (zip) NewWriter(*bytes.Buffer) io.WriteCloser { return nil }

func shadowed(p []byte) {
	var gzip zip
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(p)
}
