package written

import "testing"

const notKept = `package m

type ctx struct {
	names []string
	buf   []byte
	value value
}

type value struct{ b []byte }

func (c *ctx) write(list []string, w func([]string)) {
	names := c.names[:0]
	for _, s := range list {
		names = append(names, s) // c.names
	}
	w(names)
}

func (c *ctx) save(b []byte) {
	c.value = value{append(c.buf[:0], b...)} // c.buf
}

func (c *ctx) saves(b []byte) {
	x := append(c.buf[:0], b...) // c.buf
	c.value = value{x}
}

func (c *ctx) keeps(list []string, b []byte) {
	names := c.names[:0]
	for _, s := range list {
		names = append(names, s) // -
	}
	c.names = names
	c.buf = append(c.buf[:0], b...) // -
}

func (c *ctx) gives(b []byte) []byte {
	x := append(c.buf[:0], b...) // -
	return x
}

func (c *ctx) other(list []string) int {
	names := c.names[:0]
	if len(list) > 9 {
		names = list
	}
	names = append(names, "x") // -
	var own []string
	own = append(own[:0], list...) // -
	return len(names) + len(own)
}
`

// TestUnkept: arrays of fields that grow, and are not put back.
func TestUnkept(t *testing.T) { holds(t, notKept, unkept) }
