// Package sourcefile finds the source file that a profile or the compiler names.
package sourcefile

import (
	"path/filepath"
	"strings"
)

// Find is the file that a name means, of files with absolute paths: the one at that path, or at that path below dir, the
// module's folder; and if there is none, the first by its path of those whose path ends with the name. A module may
// have a file reader.go and another one in a folder, and both names end alike.
func Find[F any](files []F, path func(F) string, dir, name string) (file F, ok bool) {
	name = filepath.ToSlash(name)
	if strings.HasPrefix(name, "../") {
		name = filepath.ToSlash(filepath.Join(dir, name))
	}
	own, first := filepath.ToSlash(filepath.Join(dir, name)), ""
	for _, f := range files {
		have := filepath.ToSlash(path(f))
		switch {
		case have == name, have == own:
			return f, true
		case !strings.HasSuffix(have, "/"+strings.TrimPrefix(name, "./")) && !strings.HasSuffix(name, "/"+have):
		case !ok, have < first:
			file, first, ok = f, have, true
		}
	}
	return file, ok
}
