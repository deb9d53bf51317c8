package main

import (
	"context"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/disasm"
	"github.com/heaptrim/heaptrim/internal/web"
)

// page writes the report as one HTML file. Where nobody asked for it, not being
// able to is no reason to lose the report: it is said, and that is all.
func (f *checkFlags) page(ctx context.Context, v *viewed, std stdio) error {
	if f.html == "" {
		return nil
	}
	page, err := newPage(ctx, v, web.Options{Source: check.Source(v.Diagnosis), Code: disasm.Reader(ctx, v.recorded.Bundle, "")})
	if err == nil {
		err = writeFile(f.html, func(w io.Writer) error { return web.Page(w, page.Title, page.Data) })
	}
	switch {
	case err != nil && f.htmlAsked:
		return err
	case err != nil:
		fmt.Fprintf(std.err, "heaptrim check: no page: %v\n", err)
	case terminalOf(std.err).Is:
		fmt.Fprintf(std.err, "page: %s\n", f.html)
	}
	return nil
}
