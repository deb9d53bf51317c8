package cachecompiled

import (
	"html/template"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

const pattern = `^\w+$`

func word(s string) bool {
	return regexp.MustCompile(pattern).MatchString(s) // want `a constant pattern is compiled on each call: compile it once, in a package variable`
}

func words(list []string) (n int) {
	re, err := regexp.Compile(pattern) // want `a constant pattern is compiled`
	if err != nil {
		return 0
	}
	for _, s := range list {
		if re.MatchString(s) {
			n++
		}
	}
	return n
}

func matches(s string) (bool, error) {
	return regexp.MatchString(`\d`, s) // want `a constant pattern is compiled`
}

func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s) // want `a Replacer of constants is built on each call`
}

func berlin() *time.Location {
	l, _ := time.LoadLocation("Europe/Berlin") // want `the zone's data is read and parsed on each call`
	return l
}

func page(w io.Writer, data any) error {
	return template.Must(template.New("page").Parse("<p>{{.}}</p>")).Execute(w, data) // want `a constant template is parsed on each call`
}

func numbered(prefix, s string) bool {
	re := regexp.MustCompile("^" + prefix + "-[0-9]+$") // want `a pattern is put together and compiled for one use`
	return re.MatchString(s)
}

// Silent from here on.

var global = regexp.MustCompile(pattern)

var lazy = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })

func given(p, s string) bool { return regexp.MustCompile(p).MatchString(s) }

func make() *regexp.Regexp { return regexp.MustCompile(pattern) }

type matcher struct{ re *regexp.Regexp }

func newMatcher() *matcher { return &matcher{re: regexp.MustCompile(pattern)} }

func (m *matcher) compile() { m.re = regexp.MustCompile(pattern) }

func closure() func(string) bool {
	re := regexp.MustCompile(pattern)
	return func(s string) bool { return re.MatchString(s) }
}

func handedOn(use func(*regexp.Regexp)) {
	re := regexp.MustCompile(pattern)
	use(re)
}

func utc() *time.Location {
	l, _ := time.LoadLocation("UTC")
	return l
}

func functions(w io.Writer, f func() string) error {
	return template.Must(template.New("page").Funcs(template.FuncMap{"f": f}).Parse("{{f}}")).Execute(w, nil)
}

type compiler struct{}

func (compiler) MustCompile(string) *regexp.Regexp { return global }

func shadowed(s string) bool {
	var regexp compiler
	return regexp.MustCompile(pattern).MatchString(s)
}

func init() { _ = regexp.MustCompile(pattern).MatchString("") }
