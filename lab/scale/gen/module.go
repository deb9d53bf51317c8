package gen

import (
	"fmt"
	"io"
	"path/filepath"
)

// Module writes a module with a benchmark that calls n packages, each of which allocates.
func Module(dir string, n int) error {
	write := func(name, format string, args ...any) error {
		return WriteFile(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := fmt.Fprintf(w, format, args...)
			return err
		})
	}
	if err := write("go.mod", "module example.com/many\n\ngo 1.26\n"); err != nil {
		return err
	}
	imports, calls := "", ""
	for i := range n {
		if err := write(fmt.Sprintf("p%d/p.go", i), work, i); err != nil {
			return err
		}
		imports += fmt.Sprintf("\t\"example.com/many/p%d\"\n", i)
		calls += fmt.Sprintf("\t\tsink = p%d.Join(words)\n", i)
	}
	if err := write("many.go", "package many\n"); err != nil {
		return err
	}
	return write("many_test.go", "package many\n\nimport (\n\t\"testing\"\n\n%s)\n\nvar sink string\n\n"+
		"func BenchmarkJoin(b *testing.B) {\n\twords := []string{\"a\", \"few\", \"words\"}\n\tfor b.Loop() {\n%s\t}\n}\n", imports, calls)
}

// work is the source of a package.
const work = `package p%d

import "fmt"

// Join numbers words and puts them together.
func Join(words []string) string {
	text := ""
	for i, w := range words {
		text += fmt.Sprintf("%%d %%s ", i, w)
	}
	return text
}
`
