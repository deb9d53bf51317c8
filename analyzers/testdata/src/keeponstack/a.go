package keeponstack

import (
	"encoding/json"
	"reflect"
	"time"
)

func isTime(v reflect.Value) bool {
	switch v.Interface().(type) { // want `the value is copied to the heap only to switch on its type: compare the reflect.Type`
	case time.Time:
		return true
	}
	return false
}

func isNumber(v reflect.Value) bool {
	_, ok := v.Interface().(json.Number) // want `only to be asked for its type: use its reflect.Type with reflect.TypeFor\[json.Number\]\(\)`
	return ok
}

func unmarshals(t reflect.Type) bool {
	_, ok := reflect.New(t).Interface().(json.Unmarshaler) // want `reflect.New makes a value only to be asked for its type: use Implements of its reflect.Type`
	return ok
}

func isZeroTime(t reflect.Type) bool {
	switch reflect.Zero(t).Interface().(type) { // want `reflect.Zero makes a value only to switch on its type`
	case time.Time:
		return true
	}
	return false
}

func duration(v reflect.Value) time.Duration {
	d, ok := v.Field(0).Interface().(time.Duration) // want `Interface copies an addressable value to the heap before it is asserted: reflect.TypeAssert\[time.Duration\] does not`
	if !ok {
		return 0
	}
	return d
}

// Silent from here on.

func used(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.String()
	}
	return ""
}

func stringer(v reflect.Value) interface{ String() string } {
	s, _ := v.Interface().(interface{ String() string })
	return s
}

func pointer(v reflect.Value) bool {
	switch v.Interface().(type) {
	case *time.Time, nil:
		return true
	}
	return false
}

func address(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(json.Unmarshaler)
	return ok
}

func ofInterface(x any) bool {
	v := reflect.ValueOf(x)
	_, ok := v.Interface().(json.Number)
	return ok
}

func key(it *reflect.MapIter) string { return it.Key().Interface().(string) }

func generic[T any](v reflect.Value) T { return v.Interface().(T) }

type value struct{}

func (value) Interface() any { return nil }

func shadowed(v value) bool {
	_, ok := v.Interface().(json.Number)
	return ok
}
