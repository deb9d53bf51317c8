//go:build without

package variant

// Without reports whether the marked allocation site of each program is
// replaced. It is set by building with -tags without.
const Without = true
