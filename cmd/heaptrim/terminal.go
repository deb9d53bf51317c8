package main

import (
	"io"

	show "github.com/heaptrim/heaptrim/internal/report/progress"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// progress is the line that says what a command is doing.
type progress = show.Line

func newProgress(w io.Writer) *progress { return show.New(w) }

func terminalOf(w io.Writer) show.Terminal { return show.TerminalOf(w) }

// shown is how reports are written to a stream.
func shown(w io.Writer) term.Options {
	t := terminalOf(w)
	return term.Options{Width: t.Width, Color: t.Color()}
}
