package pprof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// num, msg and cat write protos by hand: what no library would write.
func num(field int, u uint64) []byte { return appendNumber(nil, field, u) }

func msg(field int, parts ...[]byte) []byte { return appendBytes(nil, field, cat(parts...)) }

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// base is a sound profile of one sample type without samples: function 1,
// location 1, four strings.
func base() []byte {
	return cat(
		msg(fieldSampleType, num(1, 1), num(2, 2)),
		msg(fieldString), msg(fieldString, []byte("cpu")), msg(fieldString, []byte("ns")), msg(fieldString, []byte("f")),
		msg(fieldFunction, num(1, 1), num(2, 3), num(5, 10)),
		msg(fieldLocation, num(1, 1), msg(4, num(1, 1), num(2, 12))),
	)
}

// readAll opens data and scans it to the end.
func readAll(data []byte) ([]sample, error) {
	p, err := Bytes("in", data)
	if err != nil {
		return nil, err
	}
	return all(p)
}

func TestHostile(t *testing.T) {
	sound := base()
	f := func(name, want string, parts ...[]byte) {
		t.Helper()
		data := cat(parts...)
		for _, in := range [][]byte{data, compress(data)} {
			_, err := readAll(in)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%s: error %v, want a SyntaxError with %q", name, err, want)
				continue
			}
			if !strings.Contains(syntax.Msg, want) {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
			if syntax.File != "in" || syntax.Offset < 0 || syntax.Offset > int64(len(data)) {
				t.Errorf("%s: error at %s:%d of %d bytes", name, syntax.File, syntax.Offset, len(data))
			}
		}
	}
	fn := func(parts ...[]byte) []byte { return msg(fieldFunction, parts...) }
	loc := func(parts ...[]byte) []byte { return msg(fieldLocation, parts...) }
	smp := func(parts ...[]byte) []byte { return msg(fieldSample, parts...) }
	minus := uint64(math.MaxUint64)

	f("string out of range in a type", "string 9 of a table of 4", sound, msg(fieldSampleType, num(1, 9)))
	f("negative string index", "string -1 of a table of 4", sound, msg(fieldPeriodType, num(1, minus)))
	f("string of a function", "string 4 of a table of 4", sound, fn(num(1, 2), num(2, 4)), loc(num(1, 2), msg(4, num(1, 2))))
	f("default type out of range", "string 77", sound, num(fieldDefaultSampleType, 77))
	f("no string table", "of a table of 0", msg(fieldSampleType, num(1, 0)))
	f("first string not empty", `begins with "x"`, msg(fieldString, []byte("x")), sound)
	f("no sample types", "no sample types", msg(fieldString))

	f("location 0 in a sample", "location 0", sound, smp(num(1, 0), num(2, 1)))
	f("unknown location", "location 2", sound, smp(num(1, 2), num(2, 1)))
	f("unknown packed location", "location 9999999", sound, smp(msg(1, binary.AppendUvarint([]byte{1}, 9999999)), num(2, 1)))
	f("location with id 0", "a location has the reserved id 0", sound, loc(num(3, 5)))
	f("location twice", "a second location has id 1", sound, loc(num(1, 1)))
	f("huge location twice", "a second location has id", sound, loc(num(1, minus)), loc(num(1, minus)))
	f("function with id 0", "a function has the reserved id 0", sound, fn(num(2, 1)))
	f("function twice", "a second function has id 1", sound, fn(num(1, 1)))
	f("mapping twice", "a second mapping has id 5", sound, msg(fieldMapping, num(1, 5)), msg(fieldMapping, num(1, 5)))
	f("mapping with id 0", "a mapping has the reserved id 0", sound, msg(fieldMapping))
	f("unknown function", "function 8", sound, loc(num(1, 2), msg(4, num(1, 8))))
	f("line without function", "function 0", sound, loc(num(1, 2), msg(4, num(2, 1))))
	f("negative line", "line number -1", sound, loc(num(1, 2), msg(4, num(1, 1), num(2, minus))))
	f("negative start line", "line number -1", sound, fn(num(1, 2), num(5, minus)))
	f("huge line", "line number 4294967296", sound, loc(num(1, 2), msg(4, num(1, 1), num(2, 1<<32))))

	f("too few values", "0 values, but the profile has 1", sound, smp(num(1, 1)))
	f("too many values", "2 values, but the profile has 1", sound, smp(num(1, 1), msg(2, []byte{1, 2})))
	f("type after the samples", "1 values, but the profile has 2", sound, smp(num(2, 1)), msg(fieldSampleType, num(1, 1)))

	f("key of a label", "string 4 of a table of 4", sound, smp(num(2, 1), msg(3, num(1, 4), num(3, 1))))
	f("text of a label", "string -1 of a table of 4", sound, smp(num(2, 1), msg(3, num(1, 1), num(2, minus))))
	f("wire type of a label", "wire type 0, not 2", sound, smp(num(2, 1), num(3, 1)))
	f("build ID", "string 8 of a table of 4", sound, msg(fieldMapping, num(1, 1), num(6, 8)))

	f("wire type of a sample", "wire type 0, not 2", sound, num(fieldSample, 1))
	f("wire type of time", "wire type 2, not 0", sound, msg(fieldTime))
	f("wire type of an id", "wire type 2, not 0", sound, loc(msg(1)))
	f("wire type of a line", "wire type 0, not 2", sound, loc(num(4, 1)))
	f("group", "invalid wire type 3", sound, []byte{7<<3 | 3})
	f("field 0", "invalid field number 0", sound, []byte{0, 0})
	f("field too large", "invalid field number", sound, binary.AppendUvarint(nil, 1<<40))
	f("twice", "several profiles", sound, num(fieldTime, 5), num(fieldTime, 6))

	f("cut varint", "ends inside a varint", sound, []byte{0x80})
	f("endless varint", "does not fit 64 bits", sound, bytes.Repeat([]byte{0xff}, 11))
	f("varint of 65 bits", "does not fit 64 bits", sound, []byte{fieldTime << 3}, bytes.Repeat([]byte{0xff}, 9), []byte{2})
	f("cut packed varint", "varint is cut off", sound, smp(msg(1, []byte{1, 0x81})))
	f("cut value", "varint is cut off", sound, smp(msg(2, []byte{0x81})))
	f("length beyond the end", "length 100, but the profile ends after 2 bytes", sound, []byte{fieldSample<<3 | 2, 100, 8, 1})
	f("length beyond the message", "length 100, but 0 bytes are left", sound, loc([]byte{4<<3 | 2, 100}))
	f("absurd length", "more than the 67108864 allowed", sound, []byte{fieldString<<3 | 2}, binary.AppendUvarint(nil, 1<<62))
	f("absurd unknown field", "more than the 67108864 allowed", sound, []byte{15<<3 | 2}, binary.AppendUvarint(nil, minus))
	f("cut fixed", "length 8, but the profile ends after 1 bytes", sound, []byte{15<<3 | 1, 0})
}

// TestAccepted holds what is unusual and right.
func TestAccepted(t *testing.T) {
	f := func(name, want string, parts ...[]byte) {
		t.Helper()
		got, err := readAll(cat(append([][]byte{base()}, parts...)...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if s := fmt.Sprint(got); s != want {
			t.Errorf("%s: %s, want %s", name, s, want)
		}
	}
	const stack = "{f  12 10 false}"
	f("unpacked", "[{[["+stack+"] ["+stack+"]] [5]}]", msg(fieldSample, num(1, 1), num(1, 1), num(2, 5)))
	f("packed", "[{[["+stack+"] ["+stack+"]] [5]}]", msg(fieldSample, msg(1, []byte{1, 1}), msg(2, []byte{5})))
	f("both", "[{[["+stack+"] ["+stack+"]] [5]}]", msg(fieldSample, num(1, 1), msg(2, []byte{5}), msg(1, []byte{1})))
	f("empty packed", "[{[] [5]}]", msg(fieldSample, msg(1), num(2, 5)))
	f("non-minimal varint", "[{[["+stack+"]] [5]}]", msg(fieldSample, msg(1, []byte{0x81, 0}), num(2, 5)))
	f("unknown fields", "[{[["+stack+"]] [-1]}]",
		msg(100, []byte("x")), []byte{101<<3&0x7f | 5 | 0x80, 6, 0, 0, 0, 0}, num(99, 7),
		msg(fieldSample, num(1, 1), num(2, math.MaxUint64), num(50, 1), msg(51), []byte{12<<3 | 5, 0, 0, 0, 0}))
	f("no symbols", "[{[[{0x1f  0 0 false}]] [5]}]", msg(fieldLocation, num(1, 7), num(3, 31), num(2, 99)), msg(fieldSample, num(1, 7), num(2, 5)))
}

// TestTruncated cuts a small profile at every byte.
func TestTruncated(t *testing.T) {
	plain := encode(t, synthetic(6))
	whole, err := readAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	border := map[int]bool{}
	at := 0
	for _, f := range split(t, plain) {
		at += len(f)
		border[at] = true
	}
	for n := range plain {
		got, err := readAll(plain[:n])
		var syntax *SyntaxError
		switch {
		case err == nil && !border[n]:
			t.Errorf("cut at %d of %d: no error", n, len(plain))
		case err == nil && len(got) > len(whole):
			t.Errorf("cut at %d of %d: %d samples of %d", n, len(plain), len(got), len(whole))
		case err != nil && (!errors.As(err, &syntax) || syntax.Offset > int64(n)):
			t.Errorf("cut at %d of %d: %v", n, len(plain), err)
		}
	}
	packed := compress(plain)
	for n := range packed {
		var syntax *SyntaxError
		if _, err := readAll(packed[:n]); !errors.As(err, &syntax) {
			t.Errorf("compressed, cut at %d of %d: error %v, want a SyntaxError", n, len(packed), err)
		}
	}
	double := append(bytes.Clone(packed), namedMember(plain)...)
	for n := len(packed) + 1; n < len(double); n++ {
		var syntax *SyntaxError
		if _, err := readAll(double[:n]); !errors.As(err, &syntax) {
			t.Errorf("second member cut after %d bytes: error %v, want a SyntaxError", n-len(packed), err)
		}
	}
}

// namedMember is a gzip member with a file name in its header.
func namedMember(data []byte) []byte {
	z := compress(data)
	z[3] |= 1 << 3
	return cat(z[:10], []byte("name\x00"), z[10:])
}

// TestFlipped damages every byte of a compressed profile. The checksum must
// tell, except in the padding of deflate, which holds no data.
func TestFlipped(t *testing.T) {
	packed := compress(encode(t, synthetic(6)))
	want, err := readAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	for i := 10; i < len(packed); i++ {
		bad := bytes.Clone(packed)
		bad[i] ^= 0x10
		if got, err := readAll(bad); err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("byte %d of %d damaged: no error", i, len(packed))
		}
	}
}

func TestLookalikes(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		for _, data := range [][]byte{[]byte(in), compress([]byte(in))} {
			_, err := readAll(data)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, want) {
				t.Errorf("%.20q: error %v, want %q", in, err, want)
			}
		}
	}
	f("", "empty profile")
	f("heap profile: 1: 32 [2: 64] @ heap/1048576\n", "a heap profile in text (debug=1)")
	f("goroutine profile: total 4\n", "a goroutine profile in text")
	f("goroutine 1 [running]:\nmain.main()\n", "a goroutine dump")
	f("--- mutex:\ncycles/second=1\n", "a mutex profile in text")
	f("go 1.26 trace\x00\x00\x00", "a Go execution trace")
	f("<!doctype html><html>404", "HTML")
	f(`{"error": "x"}`, "JSON")
	f("404 page not found\n", `text, beginning with "404 page not found"`)
	f("\x7fELF\x02\x01\x01\x00", "an ELF binary")
	f("\x28\xb5\x2f\xfd\x04\x00", "zstd data")
	f("gc 1 @0.012s 2%: 0.1+1+0 ms clock", "a gctrace log")
	f(string(compress([]byte("x"))), "")
}

// TestBomb inflates a small file to a message beyond the limit.
func TestBomb(t *testing.T) {
	head := append([]byte{fieldString<<3 | 2}, binary.AppendUvarint(nil, maxMessage+1)...)
	_, err := readAll(compress(cat(base(), head, make([]byte, maxMessage+1))))
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, "more than the 67108864 allowed") {
		t.Errorf("error %v, want one about the allowed length", err)
	}
}

func TestVarint(t *testing.T) {
	f := func(in []byte) {
		t.Helper()
		u, n := varint(in)
		want, wantN := binary.Uvarint(in)
		if wantN <= 0 {
			want, wantN = u, 0
		}
		if u != want || n != wantN {
			t.Errorf("varint(%x) = %d of %d bytes, want %d of %d", in, u, n, want, wantN)
		}
	}
	for shift := range 64 {
		for _, u := range []uint64{1 << shift, 1<<shift - 1, 1<<shift | 0x55, math.MaxUint64 >> shift} {
			in := binary.AppendUvarint(nil, u)
			for n := range len(in) + 1 {
				f(in[:n])
			}
			f(append(bytes.Clone(in), 0xff, 0x01, 0x80, 0x7f))
			f(append(bytes.Clone(in), 0, 0, 0, 0))
		}
	}
	f(bytes.Repeat([]byte{0x80}, 12))
	f(append(bytes.Repeat([]byte{0xff}, 9), 2))
}
