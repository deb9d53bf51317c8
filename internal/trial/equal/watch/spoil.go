package watch

import "reflect"

// walk limits how far values are changed.
const mostSpoiled = 4

// spare writes into the room behind the slices that a value holds, as an append by a caller does. undo,
// if it is not nil, takes what is needed to have back what was there.
func spare(v reflect.Value, depth int, undo *[]func()) {
	if !v.IsValid() || depth > mostSpoiled {
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		if n := v.Len(); v.Cap() > n && !v.IsNil() {
			room := v.Slice3(n, min(v.Cap(), n+256), min(v.Cap(), n+256))
			if undo != nil {
				was := reflect.MakeSlice(v.Type(), room.Len(), room.Len())
				reflect.Copy(was, room)
				*undo = append(*undo, func() { reflect.Copy(room, was) })
			}
			for i := range room.Len() {
				overwrite(room.Index(i))
			}
		}
		if flat(v.Type().Elem().Kind()) {
			return
		}
		fallthrough
	case reflect.Array:
		for i := range min(v.Len(), 64) {
			spare(v.Index(i), depth+1, undo)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			spare(it.Value(), depth+1, undo)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spare(v.Elem(), depth+1, undo)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spare(v.Field(i), depth+1, undo)
			}
		}
	}
}

// overwrite puts something into an element.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(77)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(77)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(77)
	case reflect.String:
		v.SetString("overwritten")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetZero()
	}
}

// spoil changes what a value holds as its owner may: elements, entries and exported fields.
func spoil(v reflect.Value, depth int) {
	if !v.IsValid() || depth > mostSpoiled {
		return
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 256) {
			if v.Kind() == reflect.Slice || v.CanSet() {
				spoilElement(v.Index(i), depth)
			}
		}
	case reflect.Map:
		v.Clear()
	case reflect.Pointer:
		if _, ours := v.Interface().(shower); !v.IsNil() && !shared(v.Type().Elem()) && !ours {
			spoilElement(v.Elem(), depth)
		}
	case reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				spoilElement(v.Field(i), depth)
			}
		}
	}
}

func spoilElement(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Struct:
		spoil(v, depth+1)
	case reflect.Uint8:
		if v.CanSet() {
			v.SetUint(v.Uint() ^ 0x15)
		}
	default:
		if v.CanSet() && (flat(v.Kind()) || v.Kind() == reflect.String) {
			overwrite(v)
		}
	}
}
