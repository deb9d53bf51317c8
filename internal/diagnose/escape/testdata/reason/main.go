// Command reason allocates in every way that the diagnosis names. A comment
// behind a line gives the kind of its allocation and a part of the reason's
// text; a line without a comment is not looked at. It prints the stacks that
// the runtime recorded, one JSON array of frames each.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

type point struct{ x, y int }

type node struct {
	next *node
	val  any
}

func (p *point) sum() int { return p.x + p.y }

type putter interface{ put(*point) }

type keeper struct{ last *point }

func (k *keeper) put(p *point) { k.last = p }

var (
	pointer  *point
	pointers []*point
	anything any
	list     []int
	anys     []any
	data     = []byte(text)
	out      []byte
	str      string
	runes    []rune
	function func() int
	table    map[string]int
	channel  chan int
	points          = make(chan *point, 10)
	put      putter = new(keeper)
	text            = "hello, and a long tail behind it to make it larger than a temporary"
	n               = 1000
	failure  error
	head     *node
)

//go:noinline
func newObject() { pointer = &point{n, n} } // new object: is stored in `pointer`

//go:noinline
func newReturned() *point {
	return &point{n, n} // new object: is returned
}

//go:noinline
func newCall() { pointer = new(point) } // new object: `new(point)` is stored in

//go:noinline
func moved() *point {
	p := point{n, n} // new object: the variable `p` is returned
	return &p
}

//go:noinline
func sent() {
	points <- &point{n, n} // new object: is sent on a channel
}

//go:noinline
func toInterface() {
	put.put(&point{n, n}) // new object: is passed to `put.put`
}

//go:noinline
func inLoop() *node {
	var h *node
	for range 2 {
		h = &node{next: h} // new object: is assigned to `h`, which outlives it
	}
	return h
}

//go:noinline
func sliceLiteral() { pointers = []*point{pointer, pointer} } // new object: is stored in `pointers`

func small(x int) *point {
	return &point{x, x}
}

//go:noinline
func inlined() {
	p := small(n) // new object: is stored in `pointer`
	pointer = p
}

//go:noinline
func inlinedError() {
	failure = errors.New(text) // new object: is stored in `failure`
}

//go:noinline
func makeSlice() []byte {
	return make([]byte, n) // make: `make([]byte, n)` is returned
}

//go:noinline
func makeLarge() int {
	b := make([]byte, 1<<20) // make: is too large for the stack
	return len(b) + int(b[n])
}

//go:noinline
func grow() {
	var s []int
	for i := range n {
		s = append(s, i) // append growth: append grows `s`; the new backing array is stored in `list`
	}
	list = s
}

// interface boxing: the copy of `n` that converting to an interface makes is stored in `anything`
//
//go:noinline
func boxInt() { anything = n }

//go:noinline
func boxStruct() { anything = point{n, n} } // interface boxing: the copy of `point{...}`

//go:noinline
func boxString() { anything = text[:n/100] } // interface boxing: the copy of `text[:n / 100]`

//go:noinline
func boxSlice() { anything = data[:n/100] } // interface boxing: converting to an interface

//go:noinline
func boxElement() {
	anys[0] = n // interface boxing: is stored in the element `anys[0]`
}

//go:noinline
func boxArgument() {
	fmt.Fprint(io.Discard, n) // interface boxing: is passed to `fmt.Fprint`
}

//go:noinline
func boxPart() *node {
	return &node{ // new object: `&node{...}` is returned
		val: n, // interface boxing: becomes part of `&node{...}`, which is on the heap
	}
}

// string/[]byte conversion: the copy that `string(data)` makes is stored in `str`
//
//go:noinline
func toString() { str = string(data) }

//go:noinline
func toBytes() { out = []byte(text) } // string/[]byte conversion: the copy that `([]byte)(text)` makes

//go:noinline
func toRunes() { runes = []rune(text) } // string/[]byte conversion: the copy that

//go:noinline
func fromRunes() { str = string(runes) } // string/[]byte conversion: the copy that `string(runes)` makes

// string concatenation: the string that `text + str[:2]` makes is stored in `str`
//
//go:noinline
func concat() { str = text + str[:2] }

//go:noinline
func concatMany() { str = text + str + "-" + text + str + text + str } // string concatenation: makes is stored in `str`

//go:noinline
func makeMap() { table = make(map[string]int, n) } // map: `make(map[string]int, n)` is stored in `table`

//go:noinline
func mapLiteral() { table = map[string]int{"a": n} } // map: `map[string]int{...}` is stored

//go:noinline
func mapGrows(names []string) {
	for i, name := range names {
		table[name] = i // map growth: makes the map grow
	}
}

//go:noinline
func makeChan() { channel = make(chan int, n) } // channel: a channel is shared between goroutines

//go:noinline
func closure() {
	x := n
	// closure: the function literal with the variables it captures is stored in `function`
	function = func() int { return x }
}

//go:noinline
func capturedByReference() func() int {
	x := n // new object: the variable `x` is captured by a closure
	return func() int {
		x++
		return x
	}
}

//go:noinline
func methodValue() { function = pointer.sum } // closure: the method value `pointer.sum` is stored in

//go:noinline
func variadic() {
	keepAll(n, n, n) // variadic slice: the slice that holds the variadic arguments is passed to `keepAll`
}

//go:noinline
func keepAll(x ...int) { list = x }

//go:noinline
func startGoroutine(done chan int, x int) {
	go func() { done <- x }() // closure: is run by a go statement
}

//go:noinline
func builder() {
	var b strings.Builder
	for range n {
		b.WriteString(text) // string building: building a string
	}
	str = b.String()
}

//go:noinline
func repeat() {
	str = strings.Repeat(text, 3) // string building: building a string
}

//go:noinline
func buffer() {
	var b bytes.Buffer
	for range n {
		b.WriteString(text) // append growth: has to grow
	}
	out = b.Bytes()
}

//go:noinline
func reflected() {
	anything = reflect.MakeSlice(reflect.TypeOf(data), 10, 10).Interface() // reflection: reflection makes values
}

func main() {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	anys = make([]any, 1)
	done := make(chan int, 1)
	runtime.MemProfileRate = 1
	// Tiny objects share a block, and the block is what is recorded.
	for _, f := range repeated(8, []func(){
		newObject, func() { pointer = newReturned() }, newCall, func() { pointer = moved() }, sent, toInterface, func() { head = inLoop() }, sliceLiteral,
		inlined, inlinedError, func() { out = makeSlice() }, func() { n += makeLarge() * 0 }, grow, boxInt, boxStruct, boxString, boxSlice, boxElement, boxArgument,
		func() { head = boxPart() }, toString, toBytes, toRunes, fromRunes, concat, concatMany, makeMap, mapLiteral, func() { mapGrows(names) },
		makeChan, closure, func() { function = capturedByReference() }, methodValue, variadic, func() { startGoroutine(done, n); <-done },
		builder, repeat, buffer, reflected,
	}) {
		f()
	}
	runtime.MemProfileRate = 0
	// A record shows when two collections have ended since.
	runtime.GC()
	runtime.GC()
	if err := dump(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func repeated(times int, in []func()) (out []func()) {
	for _, f := range in {
		for range times {
			out = append(out, f)
		}
	}
	return out
}

type frame struct {
	Function, File string
	Line           int
	Inlined        bool
}

// dump prints the recorded stacks, leaf first.
func dump() error {
	records := make([]runtime.MemProfileRecord, 10000)
	count, ok := runtime.MemProfile(records, true)
	if !ok {
		return fmt.Errorf("%d records", count)
	}
	enc := json.NewEncoder(os.Stdout)
	for _, r := range records[:count] {
		var stack []frame
		frames := runtime.CallersFrames(r.Stack())
		for {
			f, more := frames.Next()
			stack = append(stack, frame{f.Function, f.File, f.Line, f.Func == nil})
			if !more {
				break
			}
		}
		if err := enc.Encode(stack); err != nil {
			return err
		}
	}
	return nil
}
