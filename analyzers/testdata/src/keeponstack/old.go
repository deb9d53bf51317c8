//go:build go1.24

package keeponstack

import (
	"reflect"
	"time"
)

func durationBefore(v reflect.Value) time.Duration {
	return v.Field(0).Interface().(time.Duration) // reflect.TypeAssert came with Go 1.25
}
