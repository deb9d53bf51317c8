package main

import (
	"io"

	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// writeFile replaces a file when its new content is whole.
func writeFile(path string, write func(io.Writer) error) error { return tempfile.Replace(path, write) }
