package written

import (
	"strings"
	"testing"
)

const encoded = `package m

import (
	"encoding/json"
	"fmt"
	"io"
)

func lines(w io.Writer, list []int, keep func([]byte)) {
	for _, n := range list {
		b, _ := json.Marshal(n) // w
		b = append(b, 'NL')
		w.Write(b)
		c, _ := json.Marshal(n) // w
		fmt.Fprintf(w, "%sNL", c)
		d, _ := json.Marshal(n) // -
		w.Write(d)
		e, _ := json.Marshal(n) // -
		keep(e)
		fmt.Fprintf(w, "%sNL", e)
		own := io.Discard
		f, _ := json.Marshal(n) // -
		fmt.Fprintf(own, "%sNL", f)
	}
	g, _ := json.Marshal(list) // -
	fmt.Fprintf(w, "%sNL", g)
}
`

// TestEncodedByLine: values that a loop encodes, each in a line of its own.
func TestEncodedByLine(t *testing.T) {
	holds(t, strings.ReplaceAll(encoded, "NL", `\n`), encodedByLine)
}
