package watch

import (
	"reflect"
	"strings"
	"unsafe"
)

// mostCloned limits what a copy may hold, in values.
const mostCloned = 20_000

// cloner copies values with all that they reach.
type cloner struct {
	left int
	done map[visit]reflect.Value
}

// clone copies a value with all that it reaches; false if it holds what cannot be copied, such as a
// channel, or is too large.
func clone(v reflect.Value) (out reflect.Value, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	c := cloner{left: mostCloned, done: map[visit]reflect.Value{}}
	src := addressable(v)
	out = reflect.New(v.Type()).Elem()
	return out, c.into(out, src)
}

// into copies an addressable value; both can be read and set.
func (c *cloner) into(dst, src reflect.Value) bool {
	if c.left--; c.left < 0 {
		return false
	}
	switch src.Kind() {
	case reflect.String:
		dst.SetString(strings.Clone(src.String()))
	case reflect.Pointer:
		return c.pointer(dst, src)
	case reflect.Interface:
		return c.dynamic(dst, src)
	case reflect.Slice:
		return c.slice(dst, src)
	case reflect.Array:
		for i := range src.Len() {
			if !c.into(dst.Index(i), src.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		return c.entries(dst, src)
	case reflect.Struct:
		return c.fields(dst, src)
	case reflect.Chan, reflect.UnsafePointer:
		return src.IsNil()
	default:
		dst.Set(src)
	}
	return true
}

func (c *cloner) pointer(dst, src reflect.Value) bool {
	if src.IsNil() {
		return true
	}
	if _, ok := src.Interface().(interface{ begin(p *player) }); ok {
		return false // a stub
	}
	if shared(src.Type().Elem()) {
		dst.Set(src)
		return true
	}
	at := visit{src.UnsafePointer(), src.Type()}
	if have, ok := c.done[at]; ok {
		dst.Set(have)
		return true
	}
	to := reflect.New(src.Type().Elem())
	c.done[at] = to
	dst.Set(to)
	return c.into(to.Elem(), src.Elem())
}

func (c *cloner) dynamic(dst, src reflect.Value) bool {
	if src.IsNil() {
		return true
	}
	from := addressable(src.Elem())
	to := reflect.New(from.Type()).Elem()
	if !c.into(to, from) {
		return false
	}
	dst.Set(to)
	return true
}

func (c *cloner) slice(dst, src reflect.Value) bool {
	if src.IsNil() {
		return true
	}
	room := src.Cap()
	if room > src.Len()+4096 {
		room = src.Len() + 4096
	}
	to := reflect.MakeSlice(src.Type(), src.Len(), room)
	dst.Set(to)
	if flat(src.Type().Elem().Kind()) {
		if c.left -= src.Len() / 16; c.left < 0 {
			return false
		}
		reflect.Copy(to, src)
		return true
	}
	for i := range src.Len() {
		if !c.into(to.Index(i), src.Index(i)) {
			return false
		}
	}
	return true
}

// flat reports whether values of a kind hold nothing but themselves.
func flat(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

func (c *cloner) entries(dst, src reflect.Value) bool {
	if src.IsNil() {
		return true
	}
	to := reflect.MakeMapWithSize(src.Type(), src.Len())
	dst.Set(to)
	for it := src.MapRange(); it.Next(); {
		k, v := reflect.New(src.Type().Key()).Elem(), reflect.New(src.Type().Elem()).Elem()
		if !c.into(k, addressable(it.Key())) || !c.into(v, addressable(it.Value())) {
			return false
		}
		to.SetMapIndex(k, v)
	}
	return true
}

func (c *cloner) fields(dst, src reflect.Value) bool {
	t := src.Type()
	switch t.PkgPath() + "." + t.Name() {
	case "strings.Builder":
		from := (*strings.Builder)(unsafe.Pointer(src.UnsafeAddr()))
		(*strings.Builder)(unsafe.Pointer(dst.UnsafeAddr())).WriteString(from.String())
		return true
	case "sync.Mutex", "sync.RWMutex", "sync.WaitGroup", "sync.noCopy":
		return true
	case "sync.Pool":
		open(dst.FieldByName("New")).Set(open(src.FieldByName("New")))
		return true
	case "sync.Map", "sync.Cond", "os.File", "os/exec.Cmd", "testing.T", "testing.B", "net/http.Transport", "net/http.Server":
		return false
	}
	for i := range t.NumField() {
		if !c.into(open(dst.Field(i)), open(src.Field(i))) {
			return false
		}
	}
	return true
}

// shared reports whether values of a type never change, or belong to the runtime.
func shared(t reflect.Type) bool {
	switch t.PkgPath() {
	case "reflect", "internal/abi", "runtime", "context", "regexp", "log", "log/slog", "internal/reflectlite":
		return true
	case "time":
		return t.Name() == "Location"
	}
	return false
}
