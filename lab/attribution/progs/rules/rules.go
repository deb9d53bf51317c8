// Package rules is an engine for access policies: it parses boolean
// expressions into a tree and evaluates the tree against user records. The
// live heap is tiny; the marked site makes the short-lived nodes of the tree.
package rules

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

// User is a record that a rule is evaluated against.
type User struct {
	Country, Plan      string
	Age, Visits, Spent int
}

func (u *User) field(name string) (s string, n int, isString bool) {
	switch name {
	case "country":
		return u.Country, 0, true
	case "plan":
		return u.Plan, 0, true
	case "age":
		return "", u.Age, false
	case "visits":
		return "", u.Visits, false
	}
	return "", u.Spent, false
}

// World is the input: rule texts and users.
type World struct {
	rules []string
	users []User
}

// New builds the input; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(1, 2))
	countries := []string{"de", "fr", "us", "jp", "br", "in"}
	plans := []string{"free", "team", "pro"}
	w := &World{}
	for range 64 {
		w.users = append(w.users, User{countries[r.IntN(6)], plans[r.IntN(3)], r.IntN(90), r.IntN(1000), r.IntN(5000)})
	}
	for range 200 {
		w.rules = append(w.rules, fmt.Sprintf(
			`(age >= %d && country == "%s") || (plan == "%s" && visits > %d) || !(spent < %d) && (country == "%s" || age < %d)`,
			r.IntN(90), countries[r.IntN(6)], plans[r.IntN(3)], r.IntN(1000), r.IntN(5000), countries[r.IntN(6)], r.IntN(90)))
	}
	return w
}

// Worker returns the operation: parse one rule, apply it to some users.
func (w *World) Worker(int) drive.Op {
	p := &parser{}
	return func(i int) uint64 {
		tree, err := p.parse(w.rules[i%len(w.rules)])
		if err != nil {
			return 0
		}
		sum := uint64(1)
		for _, u := range w.matching(tree, i%len(w.users)) {
			sum = drive.Mix(sum, uint64(u.Spent))
		}
		return sum
	}
}

// matching returns the users that the rule lets in, from number first on.
func (w *World) matching(tree *node, first int) []*User {
	var in []*User
	for k := range 24 {
		if u := &w.users[(first+k)%len(w.users)]; eval(tree, u) {
			in = append(in, u)
		}
	}
	return in
}

type kind uint8

const (
	kindAnd kind = iota
	kindOr
	kindNot
	kindCompare
)

type node struct {
	kind        kind
	left, right *node
	field       string
	op          string
	text        string
	number      int
}

type parser struct {
	src  string
	pos  int
	tok  string
	slab []node
	used int
}

func (p *parser) parse(src string) (*node, error) {
	p.src, p.pos, p.used = src, 0, 0
	p.next()
	n := p.or()
	if n == nil || p.tok != "" {
		return nil, fmt.Errorf("offset %d: unexpected %q", p.pos, p.tok)
	}
	return n, nil
}

func (p *parser) node(k kind, left, right *node) *node {
	var n *node
	if variant.Without {
		if p.used == len(p.slab) {
			// Nodes handed out stay where they are: the old slab lives on
			// through them.
			p.slab, p.used = make([]node, 2*len(p.slab)+32), 0
		}
		n = &p.slab[p.used]
		p.used++
		*n = node{kind: k, left: left, right: right}
	} else {
		n = &node{kind: k, left: left, right: right} // site
	}
	return n
}

func (p *parser) or() *node {
	n := p.and()
	for n != nil && p.tok == "||" {
		p.next()
		right := p.and()
		if right == nil {
			return nil
		}
		n = p.node(kindOr, n, right)
	}
	return n
}

func (p *parser) and() *node {
	n := p.unary()
	for n != nil && p.tok == "&&" {
		p.next()
		right := p.unary()
		if right == nil {
			return nil
		}
		n = p.node(kindAnd, n, right)
	}
	return n
}

func (p *parser) unary() *node {
	switch p.tok {
	case "!":
		p.next()
		if n := p.unary(); n != nil {
			return p.node(kindNot, n, nil)
		}
		return nil
	case "(":
		p.next()
		n := p.or()
		if p.tok != ")" {
			return nil
		}
		p.next()
		return n
	}
	return p.compare()
}

func (p *parser) compare() *node {
	n := p.node(kindCompare, nil, nil)
	n.field = p.tok
	p.next()
	n.op = p.tok
	p.next()
	if len(p.tok) > 1 && p.tok[0] == '"' {
		n.text = p.tok[1 : len(p.tok)-1]
	} else {
		v, err := strconv.Atoi(p.tok)
		if err != nil {
			return nil
		}
		n.number = v
	}
	p.next()
	return n
}

// next moves to the next token; tokens are substrings of the source.
func (p *parser) next() {
	for p.pos < len(p.src) && p.src[p.pos] == ' ' {
		p.pos++
	}
	start := p.pos
	if start == len(p.src) {
		p.tok = ""
		return
	}
	switch c := p.src[start]; {
	case c == '(' || c == ')':
		p.pos++
	case c == '"':
		p.pos++
		for p.pos < len(p.src) && p.src[p.pos] != '"' {
			p.pos++
		}
		p.pos++
	case isWord(c):
		for p.pos < len(p.src) && isWord(p.src[p.pos]) {
			p.pos++
		}
	default:
		for p.pos < len(p.src) && isSign(p.src[p.pos]) {
			p.pos++
		}
	}
	p.tok = p.src[start:p.pos]
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func isSign(c byte) bool {
	switch c {
	case '&', '|', '=', '<', '>', '!':
		return true
	}
	return false
}

func eval(n *node, u *User) bool {
	switch n.kind {
	case kindAnd:
		return eval(n.left, u) && eval(n.right, u)
	case kindOr:
		return eval(n.left, u) || eval(n.right, u)
	case kindNot:
		return !eval(n.left, u)
	}
	text, number, isString := u.field(n.field)
	if isString {
		return (text == n.text) == (n.op == "==")
	}
	switch n.op {
	case "<":
		return number < n.number
	case ">":
		return number > n.number
	case ">=":
		return number >= n.number
	}
	return number == n.number
}
