package bench

import (
	"maps"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

func TestRead(t *testing.T) {
	got := read([]byte(`goos: linux
BenchmarkA-2         	     100	      1504 ns/op	     120 B/op	       3 allocs/op
BenchmarkB/size=1-2  	     100	        17.5 ns/op	  57.14 MB/s	       0.5 B/op	       0 allocs/op
BenchmarkC-2         	     100	      1504 ns/op
PASS
`))
	want := map[string]corpus.Amounts{"BenchmarkA": {B: 120, Allocs: 3}, "BenchmarkB/size=1": {B: 0.5}}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestExactly(t *testing.T) {
	if got, want := Exactly("BenchmarkA/a.b"), `^BenchmarkA$/^a\.b$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
