// Package escapes reads what the compiler says of escape analysis: the output
// of go build -gcflags=-m or -m=2, of Go 1.24 to 1.27.
package escapes

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Options tunes Scan. The zero value keeps every decision and leaves paths as
// they are printed.
type Options struct {
	Paths   Paths   // how printed paths become absolute
	Keep    *Filter // which lines are wanted; nil means all
	MaxLine int     // bytes a line may have; 0 means 1 MiB; longer lines are counted and skipped
}

// Stats says what Scan saw.
type Stats struct {
	Lines    int64
	Bytes    int64
	Packages int   // "# import/path" headers
	Kept     int64 // decisions handed to yield
	Dropped  int64 // heap decisions on lines that Options.Keep does not have
	Leaks    int64 // "parameter … leaks" blocks, which say nothing of an allocation here
	Overlong int64 // lines over Options.MaxLine
	// Unknown counts the lines that fit no known message: errors of the
	// compiler or the go command, or messages of a compiler newer than this
	// reader. The first few are in UnknownLines.
	Unknown      int64
	UnknownLines []Line
	Truncated    bool // the input ends in the middle of a line
}

// Line is one line of the input that was not understood.
type Line struct {
	Number int64  // 1-based
	Text   string // cut at 300 bytes
}

const (
	defaultMaxLine  = 1 << 20
	maxUnknownLines = 20
	maxUnknownText  = 300

	// Explanations that wait for the verdict line that follows them within the
	// same function group. The largest group seen, of net/http, has under 200.
	maxPending = 4096
	// A flow this long is damaged or hostile input: real ones stay under 60.
	maxFlows = 256
	maxEdges = 256
)

// Scan reads compiler output from r and calls yield for each decision that a
// value goes to the heap, with its explanation where the output is of level 2.
// The block that explains a decision and the line that states it come out as
// one Escape. Name is for error messages. Memory does not grow with the input.
//
// Scan returns an error if reading fails or yield does; input that makes no
// sense is counted in Stats.Unknown.
func Scan(name string, r io.Reader, opts Options, yield func(evidence.Escape) error) (Stats, error) {
	if opts.MaxLine <= 0 {
		opts.MaxLine = defaultMaxLine
	}
	s := &scanner{
		opts:    opts,
		yield:   yield,
		files:   map[string]*file{},
		waiting: map[position][]*entry{},
		decided: map[decision]struct{}{},
		seed:    maphash.MakeSeed(),
	}
	lines := newLineReader(r, opts.MaxLine)
	err := s.scan(lines)
	s.stats.Lines, s.stats.Bytes = lines.number, lines.bytes
	if err != nil {
		return s.stats, fmt.Errorf("read escape output %s: line %d: %w", name, lines.number, err)
	}
	return s.stats, nil
}

// scanner is the state of one Scan.
type scanner struct {
	opts  Options
	yield func(evidence.Escape) error
	stats Stats
	files map[string]*file // by printed path

	// Explanations seen whose verdict line has not come yet, in input order and
	// by position.
	queue   []*entry
	waiting map[position][]*entry
	decided map[decision]struct{} // in this package
	seed    maphash.Seed

	block *entry   // explanation being read; nil: none, or one that is not wanted
	at    position // of the block being read, wanted or not
}

// file is what is known of one printed path.
type file struct {
	path string // absolute where that could be had
	keep map[int]struct{}
}

// position is a place as printed. It compares equal for one place in one
// package's output.
type position struct {
	file      *file
	line, col int
}

// decision identifies an expression that has its verdict.
type decision struct {
	at   position
	expr uint64 // hash
}

// entry is an explanation that waits for its verdict.
type entry struct {
	escape evidence.Escape
	at     position
	done   bool
}

func (s *scanner) scan(lines *lineReader) error {
	for {
		text, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			s.stats.Truncated = lines.cut
			if s.block != nil && lines.cut {
				s.block.escape.Cut = true
			}
			return s.flush()
		case errors.Is(err, errLongLine):
			s.stats.Overlong++
			s.endBlock()
			continue
		case err != nil:
			return err
		}
		if err := s.line(lines.number, text); err != nil {
			return err
		}
	}
}

// line handles one line.
func (s *scanner) line(number int64, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if len(text) > 2 && text[0] == '#' && text[1] == ' ' {
		s.stats.Packages++
		return s.flush()
	}
	p, msg := splitPosition(text)
	class := classify(msg)
	switch class {
	case classHead, classVerdict, classMoved:
		s.endBlock()
		return s.onHeap(class, p, msg)
	case classLeak:
		s.stats.Leaks++
		s.endBlock()
		s.at = s.position(p)
	case classFlow, classEdge, classCut:
		if s.at == (position{}) {
			s.unknown(number, text)
		} else if s.block != nil {
			s.explain(class, p, msg)
		}
	case classOther:
		s.endBlock()
	default:
		s.endBlock()
		s.unknown(number, text)
	}
	return nil
}

// onHeap handles the three lines that say that something is on the heap.
func (s *scanner) onHeap(class class, p printed, msg []byte) error {
	at := s.position(p)
	if class == classHead {
		s.at = at
	}
	if !s.wanted(at) {
		if class != classHead {
			s.stats.Dropped++
		}
		return nil
	}
	e := &entry{at: at, escape: evidence.Escape{
		File: at.file.path, Line: at.line, Col: at.col, Verb: evidence.EscapesToHeap,
	}}
	switch class {
	case classHead:
		expr, fn := splitHead(msg)
		e.escape.Expr, e.escape.Func = string(expr), string(fn)
		s.block = e
		return s.wait(e)
	case classMoved:
		e.escape.Expr, e.escape.Verb = string(msg[len(movedPrefix):]), evidence.MovedToHeap
	default:
		e.escape.Expr = string(msg[:len(msg)-len(escapesSuffix)])
	}
	if known := s.take(at, e.escape.Expr); known != nil {
		known.escape.Verb = e.escape.Verb
		e = known
	}
	s.decide(e)
	return s.emit(e)
}

// explain adds a line of a flow to the block being read.
func (s *scanner) explain(class class, p printed, msg []byte) {
	if s.position(p) != s.at {
		s.endBlock()
		return
	}
	e := &s.block.escape
	switch class {
	case classCut:
		e.Cut = true
	case classFlow:
		dst, src := splitFlow(msg)
		flow := evidence.Flow{Dst: string(dst), Src: string(src)}
		if len(e.Flow) < maxFlows {
			e.Flow = append(e.Flow, flow)
			return
		}
		// The last step names the cause, so the middle goes.
		e.Flow[maxFlows-1], e.Cut = flow, true
	case classEdge:
		if len(e.Flow) == 0 {
			return
		}
		flow := &e.Flow[len(e.Flow)-1]
		edge := s.edge(msg)
		if len(flow.Edges) < maxEdges {
			flow.Edges = append(flow.Edges, edge)
			return
		}
		flow.Edges[maxEdges-1], e.Cut = edge, true
	}
}

func (s *scanner) edge(msg []byte) evidence.FlowEdge {
	expr, why, at := splitEdge(msg)
	edge := evidence.FlowEdge{Expr: string(expr), Why: string(why)}
	if p, ok := parsePosition(at); ok {
		edge.File, edge.Line, edge.Col = s.file(p.path).path, p.line, p.col
	}
	return edge
}

func (s *scanner) endBlock() {
	s.block, s.at = nil, position{}
}

func (s *scanner) unknown(number int64, text []byte) {
	s.stats.Unknown++
	if len(s.stats.UnknownLines) < maxUnknownLines {
		s.stats.UnknownLines = append(s.stats.UnknownLines, Line{number, string(text[:min(len(text), maxUnknownText)])})
	}
}

// position resolves a printed position. It is never the zero position.
func (s *scanner) position(p printed) position {
	return position{s.file(p.path), p.line, p.col}
}

// file returns what is known of a printed path.
func (s *scanner) file(path []byte) *file {
	if f, ok := s.files[string(path)]; ok {
		return f
	}
	// A real stream names a few thousand files; one that names millions must
	// not fill the memory. What waits compares by pointer and only loses its
	// verdict line.
	const maxFiles = 1 << 16
	if len(s.files) >= maxFiles {
		clear(s.files)
	}
	printed := string(path)
	f := &file{path: s.opts.Paths.Abs(printed)}
	if s.opts.Keep != nil {
		f.keep = s.opts.Keep.lines[f.path]
		if as := s.opts.Keep.lines[printed]; f.keep == nil && as != nil {
			// The profile of a -trimpath build has the paths that its compiler
			// prints.
			f.path, f.keep = printed, as
		}
	}
	s.files[printed] = f
	return f
}

func (s *scanner) wanted(at position) bool {
	if s.opts.Keep == nil {
		return true
	}
	_, ok := at.file.keep[at.line]
	return ok
}
