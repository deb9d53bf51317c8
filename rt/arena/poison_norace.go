//go:build !race

package arena

import "unsafe"

// poison makes later reads of the regions conspicuous, and later writes to
// those without pointers evident.
func poison(regions []region) {
	for _, r := range regions {
		r.wipe()
	}
}

// damaged reports whether somebody wrote to the regions after poison.
func damaged(regions []region) bool {
	for _, r := range regions {
		if r.pointers {
			continue
		}
		for _, c := range unsafe.Slice((*byte)(r.base), r.bytes) {
			if c != poisonByte {
				return true
			}
		}
	}
	return false
}
