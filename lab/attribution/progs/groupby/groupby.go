// Package groupby sums batches of sales events per customer. A map of some
// 100 MiB full of pointers is alive; the marked site makes the accumulator of
// each customer in a batch, dead when the batch is done.
package groupby

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type profile struct {
	name, email, region string
	manager             *profile
	discount            int64
}

type event struct {
	customer uint64
	cents    int64
	sku      string
}

type group struct {
	who         *profile
	last        string
	count       int64
	net, rebate int64
	biggest     int64
}

// World is the customers and their events.
type World struct {
	profiles map[uint64]*profile
	events   []event
}

const batch = 1024

// New builds the customers; they are the same on every call.
func New() *World {
	const customers = 500_000
	r := rand.New(rand.NewPCG(16, 17))
	regions := []string{"north", "south", "east", "west"}
	w := &World{profiles: make(map[uint64]*profile, customers)}
	var manager *profile
	for i := range uint64(customers) {
		p := &profile{
			name:     fmt.Sprintf("Customer %d", i),
			email:    strconv.FormatUint(i, 36) + "@mail.example.com",
			region:   regions[i%uint64(len(regions))],
			manager:  manager,
			discount: r.Int64N(20),
		}
		if i%97 == 0 {
			manager = p
		}
		w.profiles[i*0x9e3779b97f4a7c15] = p
	}
	for range 60 * batch {
		// A small circle of customers buys often.
		id := uint64(r.ExpFloat64() * 30)
		w.events = append(w.events, event{id % customers * 0x9e3779b97f4a7c15, r.Int64N(20_000), fmt.Sprintf("SKU-%d", r.IntN(5000))})
	}
	return w
}

// Worker returns the operation: sum one batch.
func (w *World) Worker(int) drive.Op {
	s := &summer{world: w, groups: make(map[uint64]*group, batch), slab: make([]group, batch)}
	return func(i int) uint64 {
		first := i % (len(w.events) / batch) * batch
		return digest(s.sum(w.events[first : first+batch]))
	}
}

type summer struct {
	world  *World
	groups map[uint64]*group
	slab   []group // used by the version without the site
}

// total is what a batch says of one customer.
type total struct {
	name, last  string
	net, rebate int64
}

// sum returns the totals of the customers in a batch, largest first.
func (s *summer) sum(events []event) []total {
	clear(s.groups)
	for i := range events {
		e := &events[i]
		g := s.groups[e.customer]
		if g == nil {
			g = s.group(len(s.groups))
			g.who = s.world.profiles[e.customer]
			s.groups[e.customer] = g
		}
		g.count++
		g.net += e.cents
		g.rebate += e.cents * g.who.discount / 100
		if e.cents > g.biggest {
			g.biggest, g.last = e.cents, e.sku
		}
	}
	totals := make([]total, 0, len(s.groups))
	for _, g := range s.groups {
		totals = append(totals, total{g.who.name, g.last, g.net, g.rebate})
	}
	slices.SortFunc(totals, func(a, b total) int {
		return cmp.Or(cmp.Compare(b.net, a.net), cmp.Compare(a.name, b.name))
	})
	return totals
}

func (s *summer) group(n int) *group {
	if variant.Without {
		g := &s.slab[n]
		*g = group{}
		return g
	}
	return &group{} // site
}

func digest(totals []total) uint64 {
	var d uint64
	for _, t := range totals {
		d = drive.Mix(d, uint64(t.net)<<20^uint64(t.rebate)) + uint64(len(t.last)+len(t.name))
	}
	return d
}
