//go:build race

package arena

import "runtime"

// poison makes any later access to the regions a data race, which the race
// detector reports with the stack of the access and that of this call: a
// goroutine writes to them that nobody is ever synchronised with again.
func poison(regions []region) {
	for _, r := range regions {
		r.wipe()
	}
	done := make(chan struct{})
	go func() {
		for _, r := range regions {
			runtime.RaceWriteRange(r.base, r.bytes)
		}
		runtime.RaceDisable() // waiting must not count as synchronisation
		close(done)
		runtime.RaceEnable()
	}()
	runtime.RaceDisable()
	<-done
	runtime.RaceEnable()
}

// damaged is nil: writes after a Reset are reported as they happen.
func damaged([]region) bool { return false }
