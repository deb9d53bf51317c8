package arena_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// Three types with pointers between them and strings: a parse tree in small.
type branch struct {
	left, right *branch
	leaf        *leaf
	name        string
}

type leaf struct {
	meta *meta
	key  string
	n    int64
}

type meta struct {
	owner *branch
	tag   string
	_     int64 // a field that nobody reads, as objects have them
}

const treeDepth = 15 // 2^15-1 branches, 98301 objects

func treeName() []byte { return []byte("branch-name-0123456789") }

func buildTree(a *arena.Arena, name []byte, depth int) *branch {
	if depth == 0 {
		return nil
	}
	b := arena.New[branch](a)
	b.name = arena.String(a, name)
	b.leaf = arena.New[leaf](a)
	b.leaf.key, b.leaf.n = "key", int64(depth)
	b.leaf.meta = arena.New[meta](a)
	b.leaf.meta.owner, b.leaf.meta.tag = b, "tag"
	b.left = buildTree(a, name, depth-1)
	b.right = buildTree(a, name, depth-1)
	return b
}

type treeSlabs struct {
	branch *arena.Slab[branch]
	leaf   *arena.Slab[leaf]
	meta   *arena.Slab[meta]
	arena  *arena.Arena
}

func (s *treeSlabs) build(name []byte, depth int) *branch {
	if depth == 0 {
		return nil
	}
	b := s.branch.New()
	b.name = arena.String(s.arena, name)
	b.leaf = s.leaf.New()
	b.leaf.key, b.leaf.n = "key", int64(depth)
	b.leaf.meta = s.meta.New()
	b.leaf.meta.owner, b.leaf.meta.tag = b, "tag"
	b.left = s.build(name, depth-1)
	b.right = s.build(name, depth-1)
	return b
}

func walkTree(b *branch) int {
	if b == nil {
		return 0
	}
	return len(b.name) + len(b.leaf.key) + int(b.leaf.n) + len(b.leaf.meta.tag) + walkTree(b.left) + walkTree(b.right)
}

func BenchmarkTree(b *testing.B) {
	name := treeName()
	run := func(what string, a *arena.Arena) {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				walkTree(buildTree(a, name, treeDepth))
				a.Reset()
			}
		})
	}
	run("new", nil)
	run("drop", new(arena.Arena))
	run("reuse", arena.Make(arena.Options{Reuse: true}))
	runSlabs := func(what string, a *arena.Arena) {
		s := &treeSlabs{arena.SlabOf[branch](a), arena.SlabOf[leaf](a), arena.SlabOf[meta](a), a}
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				walkTree(s.build(name, treeDepth))
				a.Reset()
			}
		})
	}
	runSlabs("slab-drop", new(arena.Arena))
	runSlabs("slab-reuse", arena.Make(arena.Options{Reuse: true}))
}

func BenchmarkAppend(b *testing.B) {
	grow := func(a *arena.Arena) (n int) {
		for k := 4; k < 2000; k += 40 {
			var v []*branch
			var w []int64
			for i := range k {
				v = arena.Append(a, v, nil)
				if i&3 == 0 {
					w = arena.Append(a, w, int64(i))
				}
			}
			n += len(v) + len(w)
		}
		return n
	}
	run := func(what string, a *arena.Arena) {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				grow(a)
				a.Reset()
			}
		})
	}
	run("new", nil)
	run("drop", new(arena.Arena))
	run("reuse", arena.Make(arena.Options{Reuse: true}))
}
