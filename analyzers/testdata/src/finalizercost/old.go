//go:build go1.23

package finalizercost

import "runtime"

func before(f *file) {
	runtime.SetFinalizer(f, func(f *file) { closeFD(f.fd) }) // runtime.AddCleanup came with Go 1.24
}
