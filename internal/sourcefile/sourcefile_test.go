package sourcefile

import "testing"

func TestFind(t *testing.T) {
	files := []string{"/go/src/net/textproto/reader.go", "/m/a/reader.go", "/m/reader.go", "/m/textproto/reader.go"}
	f := func(name, want string) {
		t.Helper()
		got, ok := Find(files, func(f string) string { return f }, "/m", name)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
	f("reader.go", "/m/reader.go")
	f("./a/reader.go", "/m/a/reader.go")
	f("textproto/reader.go", "/m/textproto/reader.go")
	f("net/textproto/reader.go", "/go/src/net/textproto/reader.go")
	f("/go/src/net/textproto/reader.go", "/go/src/net/textproto/reader.go")
	f("../m/a/reader.go", "/m/a/reader.go")
	f("/elsewhere/m/textproto/reader.go", "")
	f("b/reader.go", "")
	f("er.go", "")
}
