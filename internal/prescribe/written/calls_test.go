package written

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

const called = `package m

import (
	"math/rand"
	"os"
	"time"
)

func source(seed int64, again bool) *rand.Rand {
	s := rand.NewSource(time.Now().UnixNano()) // yes
	now := time.Now().Unix()
	s = rand.NewSource(now) // yes
	other := time.Now().Unix()
	if again {
		other = seed
	}
	s = rand.NewSource(other) // -
	s = rand.NewSource(seed) // -
	s = rand.NewSource(time.Unix(seed, 0).UnixNano()) // -
	start := time.Now()
	s = rand.NewSource(start.Unix() + 1) // -
	_ = s
	_ = rand.New(rand.NewSource(42)) // -
	return rand.New(rand.NewSource(time.Now().UnixMicro())) // yes
}

func read(name string) int {
	text, _ := os.ReadFile(name) // yes
	f, _ := os.Open(name) // -
	n, _ := f.Read(text) // -
	return n
}
`

// TestCalls: sources that the clock seeds, and files that are read whole.
func TestCalls(t *testing.T) {
	holds(t, called, func(p idiom.Place) string {
		if ofClock(p) || readsFile(p) {
			return "yes"
		}
		return ""
	})
}
