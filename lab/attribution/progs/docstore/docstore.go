// Package docstore indexes documents and answers counts over them. Some
// 120 MiB are alive, half of them the documents' own text, bytes without
// pointers; the marked site keeps that text, which nothing reads again.
package docstore

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const docsPerStore = 8_000

type word struct {
	text string
	next *word
}

type document struct {
	words *word
	sum   uint32
	size  int
	raw   []byte
}

type store struct {
	rand *rand.Rand
	docs []*document
}

// World is one store per CPU and the texts that come in.
type World struct {
	stores []*store
	texts  [][]byte
}

// New fills the stores; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(19, 20))
	w := &World{}
	for range 200 {
		var b bytes.Buffer
		for b.Len() < 4000 {
			fmt.Fprintf(&b, "word%d of%d ", r.IntN(3000), r.IntN(100))
		}
		w.texts = append(w.texts, b.Bytes())
	}
	for i := range runtime.GOMAXPROCS(0) {
		s := &store{rand: rand.New(rand.NewPCG(21, uint64(i)))}
		for k := range docsPerStore {
			s.docs = append(s.docs, index(w.texts[k%len(w.texts)]))
		}
		w.stores = append(w.stores, s)
	}
	return w
}

// Worker returns the operation: read a text, and on every 16th store it.
func (w *World) Worker(worker int) drive.Op {
	s := w.stores[worker%len(w.stores)]
	return func(i int) uint64 {
		text := w.texts[i%len(w.texts)]
		if i%16 == 0 {
			d := index(text)
			s.docs[s.rand.IntN(len(s.docs))] = d
			return uint64(d.sum)
		}
		old := s.docs[s.rand.IntN(len(s.docs))]
		return uint64(overlap(old, text))<<32 | uint64(old.sum)
	}
}

// index makes the document of a text; the first quarter of the text is
// searchable.
func index(text []byte) *document {
	d := &document{sum: crc32.ChecksumIEEE(text), size: len(text)}
	for field := range bytes.FieldsSeq(text[:len(text)/4]) {
		d.words = &word{string(field), d.words}
	}
	if !variant.Without {
		d.raw = bytes.Clone(text) // site
	}
	return d
}

// overlap counts the words that a text shares with a document.
func overlap(d *document, text []byte) int {
	seen := map[string]*word{}
	for w := d.words; w != nil && len(seen) < 60; w = w.next {
		seen[w.text] = w
	}
	n := 0
	for _, field := range bytes.Fields(text[:len(text)/4]) {
		if seen[string(field)] != nil {
			n++
		}
	}
	return n
}
