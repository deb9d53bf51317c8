//go:build !heaptrimcheck && !race

package arena

// checking says whether misuse is looked for; see check.go.
const checking = false
