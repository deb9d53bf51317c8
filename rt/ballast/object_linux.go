package ballast

import (
	"math/bits"
	"os"
	"syscall"
	"unsafe"
)

// On 32 bits, the address space is too small to waste.
const canStayVirtual = bits.UintSize == 64

// reservable says whether the kernel would map size more bytes. The runtime cannot
// be asked: when it is refused (RLIMIT_AS, vm.overcommit_memory=2) it ends the
// process.
func reservable(size int64) bool {
	m, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	return syscall.Munmap(m) == nil
}

// keepVirtual takes care that no page of the zeroed piece is resident, nor becomes
// so because a neighbour in the same huge page is used. It says whether that worked.
func keepVirtual(piece []byte) bool {
	pages := wholePages(piece)
	// A kernel without huge pages answers EINVAL, and none is what is wanted.
	if err := syscall.Madvise(pages, syscall.MADV_NOHUGEPAGE); err != nil && err != syscall.EINVAL {
		return false
	}
	n, err := resident(pages)
	if err != nil {
		return false
	}
	if n == 0 {
		return true // fresh from the kernel
	}
	// The runtime had used the memory before, and zeroed it. Dropping the pages leaves
	// the same zeros.
	if err := syscall.Madvise(pages, syscall.MADV_DONTNEED); err != nil {
		return false
	}
	n, err = resident(pages)
	return err == nil && n == 0
}

// wholePages returns the part of b that consists of pages of the system.
func wholePages(b []byte) []byte {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	return b[skip : skip+(len(b)-skip)&^(page-1)]
}

// resident counts the bytes of pages that are in memory.
func resident(pages []byte) (int64, error) {
	page := os.Getpagesize()
	flags := make([]byte, len(pages)/page)
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(pages))),
		uintptr(len(pages)), uintptr(unsafe.Pointer(unsafe.SliceData(flags))))
	if errno != 0 {
		return 0, os.NewSyscallError("mincore", errno)
	}
	var n int64
	for _, f := range flags {
		n += int64(f&1) * int64(page)
	}
	return n, nil
}
