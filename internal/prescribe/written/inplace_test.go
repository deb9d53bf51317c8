package written

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

const filters = `package m

type owner struct {
	list  []int
	other []int
}

func (o *owner) filter(low int) int {
	kept := make([]int, 0, len(o.list)) // o.list
	for _, n := range o.list {
		if n > low {
			kept = append(kept, n) // o.list
		}
	}
	o.list = kept
	return len(kept)
}

func (o *owner) byIndex() {
	var kept []int
	for i := range o.list {
		if o.list[i] > 0 {
			kept = append(kept, o.list[i]) // o.list
		}
	}
	o.list = kept
}

func (o *owner) looks() {
	var kept []int
	for i := range o.list {
		if i > 0 && o.list[i-1] > 0 {
			kept = append(kept, o.list[i]) // -
		}
	}
	o.list = kept
}

func (o *owner) twice() {
	var kept []int
	for _, n := range o.list {
		kept = append(kept, n) // -
		kept = append(kept, n) // -
	}
	o.list = kept
}

func (o *owner) elsewhere() {
	var kept []int
	for _, n := range o.list {
		kept = append(kept, n) // -
	}
	o.other = kept
}

func (o *owner) compares() (n int) {
	var kept []int
	for _, n := range o.list {
		kept = append(kept, n) // -
	}
	n = len(o.list) - len(kept)
	o.list = kept
	return n
}

func (o *owner) returns() {
	var kept []int
	for _, n := range o.list {
		if n < 0 {
			return
		}
		kept = append(kept, n) // -
	}
	o.list = kept
}

func (o *owner) perhaps() {
	var kept []int
	for _, n := range o.list {
		kept = append(kept, n) // -
	}
	if len(kept) > 3 {
		o.list = kept
	}
}

func (o *owner) hands(keep func([]int)) {
	var kept []int
	for _, n := range o.list {
		kept = append(kept, n) // -
	}
	keep(kept)
	o.list = kept
}
`

// TestFiltered: slices that a loop fills with elements of the slice whose place they take.
func TestFiltered(t *testing.T) { holds(t, filters, filtered) }

const back = `package m

type item struct{ n int }

type owner struct {
	one  item
	all  []item
	keys map[string]item
}

func add(to *item) { to.n++ }

func (o *owner) adds(i int, s string) int {
	a := o.one // o.one
	add(&a)
	o.one = a
	b := o.all[i] // o.all[i]
	add(&b)
	b.n++
	o.all[i] = b
	c := o.keys[s] // -
	add(&c)
	o.keys[s] = c
	return i
}

func (o *owner) other(i int) {
	a := o.one // -
	add(&a)
	o.all[i] = a
	b := o.all[i] // -
	add(&b)
	i++
	o.all[i] = b
	c := o.one // -
	add(&c)
	o.one = c
	add(&c)
	d := o.one // -
	add(&d)
	if d.n > 3 {
		return
	}
	o.one = d
	e := o.one // -
	e.n++
	o.one = e
}
`

// TestCopiedBack: variables that are copies of what they are put back to.
func TestCopiedBack(t *testing.T) { holds(t, back, copiedBack) }

const compared = `package m

import "strings"

func host(name, suffix string, b []byte) (n int) {
	if strings.HasSuffix(name, "."+suffix) { // yes
		n++
	}
	if name == "W/"+suffix { // yes
		n++
	}
	if "a"+(name+"b") != suffix { // yes
		n++
	}
	if strings.Contains(name, "."+suffix) { // -
		n++
	}
	x := name + suffix // -
	return n + len(x)
}
`

// TestOnlyCompared: concatenations that are compared, and nothing else.
func TestOnlyCompared(t *testing.T) {
	holds(t, compared, func(p idiom.Place) string {
		if OnlyCompared(p) {
			return "yes"
		}
		return ""
	})
}

const otherForms = `package m

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"unicode/utf8"
)

var re = regexp.MustCompile("a")

func forms(s string, b []byte) {
	hex.DecodeString(string(b)) // hex.Decode
	base64.StdEncoding.DecodeString(string(b)) // Decode
	hex.Decode(b, []byte(s)) // -
	utf8.RuneCountInString(string(b)) // utf8.RuneCount
	utf8.RuneCount([]byte(s)) // utf8.RuneCountInString
	re.Match([]byte(s)) // MatchString
	re.FindStringIndex(string(b)) // FindIndex
	re.ReplaceAllString(string(b), s) // -
	_ = string(b) // -
}
`

// TestInOtherForm: conversions for functions that have one which takes the other form.
func TestInOtherForm(t *testing.T) { holds(t, otherForms, inOtherForm) }

const sorts = `package m

import "sort"

type byLen []string

func (b byLen) Len() int           { return len(b) }
func (b byLen) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLen) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func order(list []string, other func(*byLen)) {
	a := byLen(list) // yes
	sort.Sort(&a)
	b := byLen(list) // -
	sort.Sort(&b)
	other(&b)
	c := byLen(list) // -
	sort.Sort(c)
}
`

// TestSortedByAddress: slices that only sort gets the address of.
func TestSortedByAddress(t *testing.T) {
	holds(t, sorts, func(p idiom.Place) string {
		if sortedByAddress(p) {
			return "yes"
		}
		return ""
	})
}
