package finalizercost

import "runtime"

type file struct {
	fd   int
	name string
}

func closeFD(int) {}

func open(fd int) *file {
	f := &file{fd: fd}
	runtime.SetFinalizer(f, func(f *file) { closeFD(f.fd) }) // want `the finalizer keeps the object for another cycle, and uses only its field fd: runtime.AddCleanup`
	return f
}

// Silent from here on.

func (f *file) close() { runtime.SetFinalizer(f, nil) }

func whole(f *file) { runtime.SetFinalizer(f, (*file).close) }

func method(f *file) { runtime.SetFinalizer(f, func(f *file) { f.close() }) }

func twoFields(f *file) {
	runtime.SetFinalizer(f, func(f *file) {
		println(f.name)
		closeFD(f.fd)
	})
}

type rt struct{}

func (rt) SetFinalizer(any, any) {}

func shadowed(f *file) {
	var runtime rt
	runtime.SetFinalizer(f, func(f *file) { closeFD(f.fd) })
}
