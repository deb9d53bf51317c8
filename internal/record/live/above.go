package live

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/above"
)

// Limits for a heap profile in text.
const (
	mostStacks  = 1 << 18
	mostAbove   = 16 // frames from the leaf; the runtime's are fewer
	mostLine    = 64 << 10
	mostSymbols = 512 // asked for at a time; they fit into 8 KiB of a request's first line
)

// stacks keeps the leaf ends of the stacks of a heap profile in text form, which, unlike the binary form, begin in the
// runtime. Lines that are not stacks are passed over.
type stacks struct {
	line []byte
	list []leafEnd
}

// leafEnd is the end of a stack.
type leafEnd struct {
	bytes int64    // allocated since the start
	pcs   []uint64 // of the instructions, a caller's inside its call; the leaf first
}

// Write implements io.Writer.
func (s *stacks) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, ended := bytes.Cut(p, []byte("\n"))
		s.line = append(s.line, piece[:min(len(piece), mostLine-len(s.line))]...)
		if ended {
			s.end()
		}
		p = rest
	}
	return n, nil
}

// end reads a line such as "1: 64 [9: 576] @ 0x47a3b1 0x4a1c02".
func (s *stacks) end() {
	counts, stack, ok := strings.Cut(string(s.line), "] @ ")
	s.line = s.line[:0]
	_, allocated, in := strings.Cut(counts, "[")
	_, size, of := strings.Cut(allocated, ": ")
	n, err := strconv.ParseInt(size, 10, 64)
	if !ok || !in || !of || err != nil || len(s.list) == mostStacks {
		return
	}
	end := leafEnd{bytes: n}
	for f := range strings.FieldsSeq(stack) {
		pc, err := strconv.ParseUint(f, 0, 64)
		if err != nil || pc == 0 || len(end.pcs) == mostAbove {
			break
		}
		end.pcs = append(end.pcs, pc-1)
	}
	s.list = append(s.list, end)
}

// calls asks for the names of the functions that stacks end in, until each is followed up to the program's own call.
func (s *stacks) calls(ctx context.Context, server *pprofServer) (above.Calls, error) {
	names := map[uint64]string{}
	for depth := range mostAbove {
		var ask []uint64
		for _, e := range s.list {
			if len(e.pcs) > depth && (depth == 0 || ofRuntime(names[e.pcs[depth-1]])) {
				ask = append(ask, e.pcs[depth])
			}
		}
		slices.Sort(ask)
		ask = slices.DeleteFunc(slices.Compact(ask), func(pc uint64) bool { _, known := names[pc]; return known })
		for list := range slices.Chunk(ask, mostSymbols) {
			if err := server.symbols(ctx, list, names); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(s.list, func(a, b leafEnd) int { return cmp.Compare(b.bytes, a.bytes) })
	calls := above.Calls{}
	for _, e := range s.list {
		own := slices.IndexFunc(e.pcs, func(pc uint64) bool { return !ofRuntime(names[pc]) })
		if own < 0 || names[e.pcs[own]] == "" || calls[e.pcs[own]] != nil {
			continue // nothing but the runtime, an unknown call, or one of which a stack with more bytes was read
		}
		functions := make([]string, own)
		for i := range functions {
			functions[i] = names[e.pcs[i]]
		}
		calls[e.pcs[own]] = functions
	}
	return calls, nil
}

// ofRuntime reports whether the binary form of a heap profile leaves a function out: runtime/pprof, writeHeapProto.
func ofRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/runtime/")
}

// symbols asks the service which functions addresses belong to.
func (s *pprofServer) symbols(ctx context.Context, pcs []uint64, names map[uint64]string) error {
	var ask, answer bytes.Buffer
	ask.WriteByte('0') // not an address; a query of the user's own comes before it
	for _, pc := range pcs {
		fmt.Fprintf(&ask, "+%#x", pc)
	}
	q := query{path: "symbol", args: ask.String()}
	if err := s.get(ctx, q, &limitedBuffer{&answer, maxIndex * 4}); err != nil {
		return err
	}
	lines := bufio.NewScanner(&answer)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "num_symbols: ") {
		return fmt.Errorf("%s does not answer with symbols", s.show(query{path: q.path}))
	}
	for lines.Scan() {
		at, name, _ := strings.Cut(lines.Text(), " ")
		if pc, err := strconv.ParseUint(at, 0, 64); err == nil && !strings.ContainsAny(name, " \t") {
			names[pc] = name
		}
	}
	return lines.Err()
}

// keepAbove records the runtime functions through which the program allocated.
func (r *liveRecorder) keepAbove(ctx context.Context, s *stacks) {
	calls, err := s.calls(ctx, r.server)
	if err == nil {
		p := evidence.Part{Path: "service/above.txt", Kind: evidence.KindAbove, Pass: evidence.PassService}
		err = r.w.Add(r.run, p, func(w io.Writer) error { return calls.Write(w) })
	}
	if errors.Is(err, errNoPprof) {
		err = errors.New("/debug/pprof/symbol is not served; the kinds of allocation come from the source")
	}
	if err != nil && ctx.Err() == nil {
		r.fail("runtime functions of the allocation stacks", err)
	}
}
