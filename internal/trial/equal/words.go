package equal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// Limits of what arguments are made from.
const (
	mostWords   = 600
	mostWord    = 300
	mostNumbers = 60
	mostSamples = 24   // files of test data
	mostSample  = 2000 // bytes of one
)

// words are literals of the package, of its tests, and files of its test data.
type words struct {
	list    []string
	numbers []int64
	seen    map[string]bool
}

// gather reads what arguments are made from: first what the tests have, then the package itself.
func gather(p gocmd.Package, s *source) words {
	w := words{seen: map[string]bool{}}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err == nil {
			w.literals(f, mostWords/2)
		}
	}
	for _, f := range s.files {
		w.literals(f.syntax, mostWords)
	}
	w.samples(filepath.Join(p.Dir, "testdata"))
	return w
}

func (w *words) add(text string, most int) {
	if len(text) > 0 && len(text) <= mostWord && len(w.list) < most && !w.seen[text] {
		w.seen[text] = true
		w.list = append(w.list, text)
	}
}

func (w *words) literals(f *ast.File, most int) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			w.literal(n, most)
		}
		return true
	})
}

func (w *words) literal(n *ast.BasicLit, most int) {
	switch n.Kind {
	case token.STRING:
		if s, err := strconv.Unquote(n.Value); err == nil {
			w.add(s, most)
		}
	case token.CHAR:
		if s, err := strconv.Unquote(n.Value); err == nil {
			w.add(s, most)
		}
	case token.INT:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil && v > 3 && v < 1<<20 && len(w.numbers) < mostNumbers && !slices.Contains(w.numbers, v) {
			w.numbers = append(w.numbers, v)
		}
	}
}

// samples adds the beginnings of files of test data.
func (w *words) samples(dir string) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || n >= mostSamples {
			return fs.SkipAll
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		text := make([]byte, mostSample)
		got, _ := f.Read(text)
		if s := whole(string(text[:got])); s != "" && utf8.ValidString(s) {
			n++
			w.list = append(w.list, s)
		}
		return nil
	})
	if err != nil {
		return // there is none
	}
}

// whole is a text without a character that is cut at its end.
func whole(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}
