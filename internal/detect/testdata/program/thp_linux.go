package main

import "syscall"

// hugePages touches memory that it has asked huge pages for, and gives it back.
func hugePages(stop func() bool) {
	const size = 64 << 20
	for !stop() {
		m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		check(err)
		check(syscall.Madvise(m, syscall.MADV_HUGEPAGE))
		for i := 0; i < len(m); i += 4096 {
			m[i] = 1
		}
		check(syscall.Munmap(m))
	}
}
