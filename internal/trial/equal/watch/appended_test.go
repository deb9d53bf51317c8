package watch

import (
	"reflect"
	"testing"
)

// TestAppended: which argument a function takes over.
func TestAppended(t *testing.T) {
	bytes, text, method := []byte("a"), "a", struct{}{}
	s := &Session{of: ofCalls{appends: map[string]bool{"AppendText": true, "(*T).AppendTo": true, "AppendName": true, "AppendNothing": true}}}
	for name, c := range map[string]struct {
		args []any
		want int
	}{
		"AppendText": {[]any{bytes, text}, 0}, "(*T).AppendTo": {[]any{method, bytes}, 1},
		"Copy": {[]any{bytes}, -1}, "AppendName": {[]any{text, bytes}, -1}, "AppendNothing": {nil, -1},
	} {
		var args []reflect.Value
		for _, a := range c.args {
			args = append(args, reflect.ValueOf(a))
		}
		if got, _ := s.appended(name, args, []reflect.Value{reflect.ValueOf(bytes)}); got != c.want {
			t.Errorf("%s takes over %d, want %d", name, got, c.want)
		}
	}
	nothing := reflect.ValueOf([]byte(nil))
	for _, dst := range [][]byte{nil, {}, bytes} {
		_, shown := s.appended("AppendText", []reflect.Value{reflect.ValueOf(dst)}, []reflect.Value{nothing})
		if want := dst == nil || len(dst) > 0; shown[0].IsNil() != want {
			t.Errorf("nothing from %#v is shown as nil: %v, want %v", dst, shown[0].IsNil(), want)
		}
	}
}
