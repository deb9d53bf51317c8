//go:build !race

package arena

import "unsafe"

// poison makes later reads of the regions conspicuous and later writes evident.
func poison(regions []region) {
	for _, r := range regions {
		r.wipe()
	}
}

// damaged reports whether somebody wrote to the regions after poison. What was
// written and looks like what wipe left is not seen.
func damaged(regions []region) bool {
	for _, r := range regions {
		var want byte
		if !r.pointers {
			want = poisonByte
		}
		for _, c := range unsafe.Slice((*byte)(r.base), r.bytes) {
			if c != want {
				return true
			}
		}
	}
	return false
}
