package main

import (
	"errors"
	"io"

	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// writeFile replaces a file when its new content is whole.
func writeFile(path string, write func(io.Writer) error) error { return tempfile.Replace(path, write) }

// output is a form of a result and where it goes: a file, - for standard output, "" for nowhere.
type output struct {
	to    string
	write func(io.Writer) error
}

// writeAll writes every form that was asked for. It reports whether standard output is left for text.
func writeAll(outs []output, std stdio) (text bool, err error) {
	text = true
	for _, o := range outs {
		switch o.to {
		case "":
		case "-":
			text = false
			err = errors.Join(err, o.write(std.out))
		default:
			err = errors.Join(err, writeFile(o.to, o.write))
		}
	}
	return text, err
}
