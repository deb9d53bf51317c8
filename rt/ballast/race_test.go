//go:build race

package ballast

const raceEnabled = true
