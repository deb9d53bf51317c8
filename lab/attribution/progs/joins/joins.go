// Package joins answers foreign-key joins between two tables. The tables keep
// some 45 MiB alive; the marked site makes the key of each look-up by joining
// two columns, dead when the row has been found.
package joins

import (
	"fmt"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type row struct {
	name  string
	price int
	next  *row
}

// World is an index by two columns, joined with a colon.
type World struct {
	rows    map[string]*row
	regions []string
}

const perRegion = 4000

// New builds the index; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(53, 54))
	w := &World{rows: map[string]*row{}}
	var last *row
	for region := range 60 {
		name := fmt.Sprintf("region-%03d-of-the-world-wide-web-shop", region)
		w.regions = append(w.regions, name)
		for n := range perRegion {
			last = &row{fmt.Sprintf("item %d", n), r.IntN(1000), last}
			w.rows[name+":"+code(n)] = last
		}
	}
	return w
}

func code(n int) string { return fmt.Sprintf("%08d", n*7919) }

// Worker returns the operation: eight look-ups.
func (w *World) Worker(int) drive.Op {
	j := &joiner{world: w}
	for n := range perRegion {
		j.codes = append(j.codes, code(n))
	}
	return func(i int) uint64 {
		var h uint64
		for k := range 8 {
			h = drive.Mix(h, j.find(w.regions[(i*31+k)%len(w.regions)], j.codes[(i*17+k*101)%perRegion]))
		}
		return h
	}
}

type joiner struct {
	world *World
	codes []string
	key   []byte
}

func (j *joiner) find(region, code string) uint64 {
	if variant.Without {
		j.key = append(append(append(j.key[:0], region...), ':'), code...)
		return uint64(j.world.rows[string(j.key)].price)
	}
	key := region + ":" + code // site
	return uint64(j.world.rows[key].price)
}
