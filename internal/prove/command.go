package prove

import (
	"context"
	"errors"
	"time"
)

// Command is a program to run instead of benchmarks.
type Command struct {
	Package string        // main package
	Args    []string      // of the program
	Ready   string        // URL that answers once the program is ready; "" does not wait
	Load    string        // shell command that loads the program; "" runs it to its end
	For     time.Duration // ends the load; 0 lets it end by itself
}

// Kind is the kind of target that the command is.
func (c Command) Kind() string {
	if c.Load != "" {
		return KindLoad
	}
	return KindCommand
}

type command struct {
	*engine
	Command
}

func (w *command) prepare(context.Context) ([]*subject, error) { return nil, errors.New("todo") }
func (w *command) run(context.Context, *subject, runOrder) (Sample, error) {
	return Sample{}, errors.New("todo")
}
