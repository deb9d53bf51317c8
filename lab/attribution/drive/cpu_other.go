//go:build !unix

package drive

// processCPU returns 0: only Unix systems say what a process used. The runner
// refuses such a measurement.
func processCPU() int64 { return 0 }
