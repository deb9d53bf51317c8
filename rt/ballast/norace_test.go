//go:build !race

package ballast

const raceEnabled = false
