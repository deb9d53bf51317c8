//go:build go1.23

package avoidconversion

import "strings"

func before(s string, use func(string)) {
	for _, p := range strings.Split(s, ",") { // strings.SplitSeq came with Go 1.24
		use(p)
	}
}
