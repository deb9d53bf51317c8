package written

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

const waiting = `package m

import "time"

type deadline struct{ stop, over chan struct{} }

func (d *deadline) set(in time.Duration) {
	go func() {
		timer := time.NewTimer(in) // waits
		defer timer.Stop()
		select {
		case <-timer.C:
			close(d.over)
		case <-d.stop:
		}
	}()
	go func() {
		select {
		case <-time.After(in): // waits
			close(d.over)
		case _, _ = <-d.stop:
		}
	}()
	go func() {
		timer := time.NewTimer(in) // -
		for {
			select {
			case <-timer.C:
				timer.Reset(in)
			case <-d.stop:
				return
			}
		}
	}()
	go func() {
		timer := time.NewTimer(in) // -
		work()
		select {
		case <-timer.C:
		case <-d.stop:
		}
	}()
	go func() {
		timer := time.NewTimer(in) // -
		select {
		case <-timer.C:
		case d.over <- struct{}{}:
		}
	}()
	go func() {
		timer := time.NewTimer(in) // -
		select {
		case <-timer.C:
		case <-d.over:
		case <-d.stop:
		}
	}()
	timer := time.NewTimer(in) // -
	select {
	case <-timer.C:
	case <-d.stop:
	}
}

func work() {}

func wait(d *deadline, in time.Duration) {
	f := func() bool {
		timer := time.NewTimer(in) // -
		select {
		case <-timer.C:
			return true
		case <-d.stop:
			return false
		}
	}
	f()
}
`

// TestWaitsForTime: goroutines that only wait for a timer or something else.
func TestWaitsForTime(t *testing.T) {
	holds(t, waiting, func(p idiom.Place) string {
		if waitsForTime(p) {
			return "waits"
		}
		return ""
	})
}
