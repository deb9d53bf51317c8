//go:build !race

package alloctest

// race says that the race detector is in the program.
const race = false
