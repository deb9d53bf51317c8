package check

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/arguments"
)

// TraceFile is the file of a trace: name itself, or the trace that the bundle of that name holds,
// with what was recorded there. The function it returns removes what was unpacked.
func TraceFile(name string) (path string, t evidence.Target, done func(), err error) {
	if name == "-" || !arguments.IsBundle(name) {
		return name, t, func() {}, nil
	}
	b, err := bundle.Open(name)
	if err != nil {
		return "", t, nil, err
	}
	part, ok := traceOf(b)
	if !ok {
		b.Close()
		return "", t, nil, fmt.Errorf("%s holds no execution trace; record one with -trace", name)
	}
	return b.Path(part), b.Manifest.Target, func() { b.Close() }, nil
}
