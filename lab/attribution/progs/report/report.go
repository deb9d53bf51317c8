// Package report renders pages of a customer table as delimited text. The
// table keeps some 20 MiB alive; the marked site joins the columns of each row
// into a string that lives until it is written.
package report

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type customer struct {
	name, street, city string
	since              time.Time
	orders             int
	balance            float64
}

// World is the table.
type World struct {
	rows []*customer
}

// New builds the table; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(3, 4))
	w := &World{}
	start := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 80_000 {
		w.rows = append(w.rows, &customer{
			name:    fmt.Sprintf("Customer No. %d and Sons, Ltd.", i),
			street:  fmt.Sprintf("%d Long Winding Road, Building %c", r.IntN(900), 'A'+rune(r.IntN(26))),
			city:    fmt.Sprintf("%05d Springfield-upon-Thames", r.IntN(100000)),
			since:   start.AddDate(0, 0, r.IntN(5000)),
			orders:  r.IntN(400),
			balance: float64(r.IntN(1_000_000)) / 100,
		})
	}
	return w
}

// Worker returns the operation: render one page of 20 rows.
func (w *World) Worker(int) drive.Op {
	p := &printer{cols: make([]string, 0, 8)}
	return func(i int) uint64 {
		p.page.Reset()
		first := i * 20 % len(w.rows)
		for _, c := range w.rows[first : first+20] {
			p.row(c)
		}
		return uint64(crc32.ChecksumIEEE(p.page.Bytes()))
	}
}

type printer struct {
	page bytes.Buffer
	cols []string
	line []byte
}

func (p *printer) row(c *customer) {
	p.cols = append(p.cols[:0],
		c.name, c.street, c.city,
		c.since.Format(time.DateOnly),
		strconv.Itoa(c.orders),
		strconv.FormatFloat(c.balance, 'f', 2, 64))
	if variant.Without {
		p.line = p.line[:0]
		for i, col := range p.cols {
			if i > 0 {
				p.line = append(p.line, " | "...)
			}
			p.line = append(p.line, col...)
		}
		p.page.Write(p.line)
	} else {
		line := strings.Join(p.cols, " | ") // site
		p.page.WriteString(line)
	}
	p.page.WriteByte('\n')
}
