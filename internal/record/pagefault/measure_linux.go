package pagefault

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"
)

// line is the smallest cache line size of the machines that Go supports.
const line = 32

// measure returns the nanoseconds for each page.
func measure(ctx context.Context) ([]float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	page := os.Getpagesize()
	m, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	defer func() { _ = syscall.Munmap(m) }() // cannot fail: the mapping is ours and complete
	// A huge page would serve many touches at once. Kernels without huge pages return an
	// error, which can be ignored.
	_ = syscall.Madvise(m, syscall.MADV_NOHUGEPAGE)
	other := make([]byte, between)
	var all []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := syscall.Madvise(m, syscall.MADV_DONTNEED); err != nil {
			return nil, os.NewSyscallError("madvise", err)
		}
		for i := 0; i < len(m); i += page {
			for k := 0; k < len(other); k += line {
				other[k]++
			}
			start := time.Now()
			m[i] = 1
			first := time.Since(start)
			start = time.Now()
			m[i] = 2
			all = append(all, float64((first - time.Since(start)).Nanoseconds()))
		}
	}
	return all, nil
}
