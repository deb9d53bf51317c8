// Package feed merges the posts of the people that somebody follows. The posts
// keep some 60 MiB alive; the marked site makes the list of a page of posts,
// dead when the page has been rendered.
package feed

import (
	"math/rand/v2"
	"slices"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type post struct {
	at    int64
	likes int
	text  []byte
}

// World has the posts of each person, the newest first, and whom each follows.
type World struct {
	posts   [][]*post
	follows [][]int
}

const people = 8000

// New builds the network; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(59, 60))
	w := &World{}
	for range people {
		var list []*post
		at := int64(1 << 40)
		for range 40 {
			at -= int64(r.IntN(1000))
			list = append(list, &post{at, r.IntN(50), make([]byte, 60+r.IntN(80))})
		}
		w.posts = append(w.posts, list)
		var f []int
		for range 12 {
			f = append(f, r.IntN(people))
		}
		w.follows = append(w.follows, f)
	}
	return w
}

// Worker returns the operation: one page.
func (w *World) Worker(int) drive.Op {
	p := &pager{world: w}
	return func(i int) uint64 {
		var h uint64
		for _, post := range p.page(i * 13 % people) {
			h = drive.Mix(h, uint64(post.at)+uint64(post.likes)+uint64(len(post.text)))
		}
		return h
	}
}

type pager struct {
	world   *World
	scratch []*post
}

// page returns the newest posts. In the version without the site they are valid
// until the next call.
func (p *pager) page(person int) []*post {
	out := p.list()
	for _, f := range p.world.follows[person] {
		out = append(out, p.world.posts[f][:8]...)
	}
	if variant.Without {
		p.scratch = out
	}
	slices.SortFunc(out, func(a, b *post) int { return int(b.at - a.at) })
	return out[:40]
}

func (p *pager) list() []*post {
	if variant.Without {
		if p.scratch == nil {
			p.scratch = make([]*post, 0, 96)
		}
		return p.scratch[:0]
	}
	return make([]*post, 0, 96) // site
}
