//go:build heaptrimcheck || race

package pool

// checking says whether misuse is looked for; see check.go.
const checking = true
