package progress

import "io"

// Stream keeps the first error of writing to W, for callers that print without
// looking at errors. TerminalOf looks at W.
type Stream struct {
	W   io.Writer
	Err error
}

// Write writes to W, until that fails.
func (s *Stream) Write(p []byte) (n int, err error) {
	if s.Err == nil {
		n, s.Err = s.W.Write(p)
	}
	return n, s.Err
}
