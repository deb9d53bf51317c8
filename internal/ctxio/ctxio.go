// Package ctxio lets a context end what reads from an io.Reader. A leaf.
package ctxio

import (
	"context"
	"io"
)

// Reader returns a reader of r that fails with the context's error once ctx is
// done. A Read that has begun is not interrupted. It can be read anywhere where r can.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(file); ok {
		return fileReader{reader{ctx, r}, f}
	}
	return reader{ctx, r}
}

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

type file interface {
	io.ReaderAt
	io.Seeker
}

type fileReader struct {
	reader
	file
}

func (r fileReader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.ReadAt(p, off)
}
