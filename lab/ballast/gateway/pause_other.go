//go:build unix && !linux

package gateway

import "time"

func pause(d time.Duration) { time.Sleep(d) }
