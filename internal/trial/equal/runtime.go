package equal

import (
	"embed"
	"io/fs"
	"strings"
)

// The sources of package watch, as they are compiled into test binaries.
//
//go:embed watch/*.go
var watchSources embed.FS

// language is what the files of package watch are compiled as, whatever the module's go line says.
const language = "//go:build go1.24"

// runtimeFiles are the files of package watch by name.
func runtimeFiles() map[string][]byte {
	out := map[string][]byte{}
	entries, err := fs.ReadDir(watchSources, "watch")
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, e := range entries {
		text, err := fs.ReadFile(watchSources, "watch/"+e.Name())
		if err != nil {
			panic(err)
		}
		if strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if had, rest, ok := strings.Cut(string(text), "\n"); ok && strings.HasPrefix(had, "//go:build ") {
			out[e.Name()] = []byte(language + " && " + strings.TrimPrefix(had, "//go:build ") + "\n" + rest)
			continue
		}
		out[e.Name()] = []byte(language + "\n\n" + string(text))
	}
	return out
}
