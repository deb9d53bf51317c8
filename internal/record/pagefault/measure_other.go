//go:build !linux

package pagefault

import "context"

func measure(context.Context) ([]float64, error) { return nil, errUnsupported }
