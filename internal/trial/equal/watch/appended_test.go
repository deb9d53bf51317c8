package watch

import (
	"reflect"
	"testing"
)

// TestAppended: which argument a function takes over, by its name and its types.
func TestAppended(t *testing.T) {
	bytes, text, method := []byte("a"), "a", struct{}{}
	for name, c := range map[string]struct {
		args []any
		want int
	}{
		"AppendText": {[]any{bytes, text}, 0}, "append": {[]any{bytes}, 0}, "append2": {[]any{bytes}, 0}, "(*T).AppendTo": {[]any{method, bytes}, 1},
		"Appendix": {[]any{bytes}, -1}, "Copy": {[]any{bytes}, -1}, "AppendName": {[]any{text, bytes}, -1}, "AppendNothing": {nil, -1},
	} {
		var args []reflect.Value
		for _, a := range c.args {
			args = append(args, reflect.ValueOf(a))
		}
		if got, _ := appended(name, args, []reflect.Value{reflect.ValueOf(bytes)}); got != c.want {
			t.Errorf("%s takes over %d, want %d", name, got, c.want)
		}
	}
	nothing := reflect.ValueOf([]byte(nil))
	for _, dst := range [][]byte{nil, {}, bytes} {
		_, shown := appended("Append", []reflect.Value{reflect.ValueOf(dst)}, []reflect.Value{nothing})
		if want := dst == nil || len(dst) > 0; shown[0].IsNil() != want {
			t.Errorf("nothing from %#v is shown as nil: %v, want %v", dst, shown[0].IsNil(), want)
		}
	}
}
