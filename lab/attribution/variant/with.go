//go:build !without

// Package variant selects, at build time, which of the two versions of every
// ground-truth program is compiled. The constant is folded before escape
// analysis, so neither version pays for the other.
package variant

// Without reports whether the marked allocation site of each program is
// replaced. It is set by building with -tags without.
const Without = false
