// Package ledger posts lines of bank statements to accounts. The accounts keep
// some 25 MiB alive; the marked site makes the list of a line's fields, dead
// when the line has been posted.
package ledger

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type account struct {
	name     string
	balance  int64
	postings int
	history  [8]int64
	parent   *account
}

// World is the statements, and a book of accounts for each CPU.
type World struct {
	statements []string
	books      []*book
}

// New builds the statements; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(23, 24))
	w := &World{}
	var names []string
	for i := range 80_000 {
		names = append(names, fmt.Sprintf("DE%02d-%06d-%04d", i%97, i, r.IntN(1e4)))
	}
	for range 400 {
		var b strings.Builder
		for range 16 {
			fmt.Fprintf(&b, "2026-%02d-%02d;%s;%s;%d.%02d;EUR;invoice %d;%d\n", 1+r.IntN(12), 1+r.IntN(28),
				names[r.IntN(len(names))], names[r.IntN(len(names))], r.IntN(5000), r.IntN(100), r.IntN(1e6), r.IntN(10))
		}
		w.statements = append(w.statements, b.String())
	}
	for range runtime.GOMAXPROCS(0) {
		w.books = append(w.books, newBook(names))
	}
	return w
}

func newBook(names []string) *book {
	b := &book{accounts: make(map[string]*account, len(names))}
	var parent *account
	for _, n := range names {
		parent = &account{name: n, parent: parent}
		b.accounts[n] = parent
	}
	return b
}

// Worker returns the operation: post one statement.
func (w *World) Worker(worker int) drive.Op {
	b := w.books[worker%len(w.books)]
	return func(i int) uint64 { return b.post(w.statements[i%len(w.statements)]) }
}

type book struct {
	accounts map[string]*account
	fields   []string // reused; of the version without the site
}

func (b *book) post(statement string) uint64 {
	var d uint64
	for statement != "" {
		line, rest, _ := strings.Cut(statement, "\n")
		statement = rest
		d = drive.Mix(d, b.line(b.split(line)))
	}
	return d
}

// split returns the fields of a line. In the version without the site they are
// valid until the next call.
func (b *book) split(line string) []string {
	n := strings.Count(line, ";") + 1
	var fields []string
	if variant.Without {
		fields = b.fields[:0]
	} else {
		fields = make([]string, 0, n) // site
	}
	for range n {
		f, rest, _ := strings.Cut(line, ";")
		fields = append(fields, f)
		line = rest
	}
	if variant.Without {
		b.fields = fields
	}
	return fields
}

func (b *book) line(f []string) uint64 {
	whole, part, _ := strings.Cut(f[3], ".")
	units, _ := strconv.ParseInt(whole, 10, 64)
	cents, _ := strconv.ParseInt(part, 10, 64)
	amount := units*100 + cents
	from, to := b.accounts[f[1]], b.accounts[f[2]]
	from.post(-amount)
	to.post(amount)
	return uint64(amount)<<20 ^ uint64(len(f[5]))
}

func (a *account) post(amount int64) {
	a.balance += amount
	a.history[a.postings%len(a.history)] = amount
	a.postings++
}
