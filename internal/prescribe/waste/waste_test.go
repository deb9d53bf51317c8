package waste

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

func sum(a, b string) string {
	s := a
	s += b + "x" // 2
	s += a
	for range b {
		s += a // 1
	}
	return s
}

func formats(layout, a string, n int) {
	fmt.Sprintf(layout, a)                      // varies
	fmt.Sprintf("%"+fmt.Sprint(n)+"s", a)       // constant
	fmt.Sprintf("%s", a)                        // constant
}

func parse(t *template.Template, text string, list template.FuncMap) {
	template.New("a").Parse(text)                                                     // text
	template.New("a").Funcs(list).Parse(text)                                         // text
	template.New("a").Funcs(template.FuncMap{"f": func() string { return text }}).Parse(text) // filled
	t.Parse(text)                                                                     // filled
	template.Must(template.New("a").Option("b").Parse(text)) // whole
	template.New("a").Funcs(template.FuncMap{"f": func() string { return text }}).Parse(text) // later
	made := template.New("a").Option("b") // whole
	var held struct{ t *template.Template }
	held.t = made
	held.t = template.New("a").Option("b") // later
}

func keys(m reflect.Value, seen map[any]bool) (all []reflect.Value) {
	for _, k := range m.MapKeys() { // forgotten
		fmt.Println(k.String(), m.MapIndex(k))
	}
	for _, k := range m.MapKeys() { // held
		all = append(all, k)
	}
	for _, k := range m.MapKeys() { // held
		seen[k] = true
	}
	for _, k := range m.MapKeys() { // held
		go fmt.Println(k)
	}
	for _, k := range m.MapKeys() { // held
		seen[k.Interface()] = true
	}
	for _, k := range m.MapKeys() { // forgotten
		if k.String() == "" {
			seen[k.Interface()] = true
		}
	}
	all = m.MapKeys() // held
	return all
}

func turns(list []string) (all string) {
	for _, l := range list {
		l += "." // new
		all += l // carried
	}
	for range list {
		var line string
		line += all // new
		for range list {
			line += "x" // carried
		}
	}
	return all
}

type tree struct {
	left, right *tree
	text        string
}

func (t *tree) String() string {
	var b strings.Builder
	b.WriteString(t.left.String()) // retold
	return b.String() // retold
}

func joined(t *tree) string {
	return t.text + joined(t.left) // retold
}

func bytesOf(t *tree) (all []byte) {
	all = append(all, bytesOf(t.left)...) // retold
	return all
}

func (t *tree) depth() int {
	return 1 + t.left.depth() // once
}

func (t *tree) first() string {
	if t.left != nil {
		return t.left.first()
	}
	return t.text + "." // once
}
`

// TestCalls: statements in a row, formats and templates, by the comment on the line.
func TestCalls(t *testing.T) {
	p, file := sourcetest.Load(t, program)
	for i, text := range strings.Split(program, "\n") {
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found || l == nil {
			continue
		}
		e := l.Exprs[0]
		switch want {
		case "1", "2":
			e = l.Exprs[len(l.Exprs)-1]
			if got := InARow(e); got != int(want[0]-'0') {
				t.Errorf("%s: %d statements in a row", text, got)
			}
		case "new", "carried":
			if e = l.Exprs[len(l.Exprs)-1]; NewEachTurn(e) != (want == "new") {
				t.Errorf("%s: the variable is taken for another", text)
			}
		case "retold", "once":
			if Retold(e) != (want == "retold") {
				t.Errorf("%s: the text is taken for something else", text)
			}
		case "forgotten", "held":
			if EachForgotten(e) != (want == "forgotten") {
				t.Errorf("%s: the values are taken for something else", text)
			}
		case "varies", "constant":
			if FormatVaries(l, e) != (want == "varies") {
				t.Errorf("%s: the format is taken for something else", text)
			}
		case "whole", "later":
			at := slices.IndexFunc(l.Exprs, func(e *source.Expr) bool { return e.Call.Callee == "text/template.New" })
			if at < 0 || Filled(l.Exprs[at]) != (want == "later") {
				t.Errorf("%s: what is in the template is taken for something else", text)
			}
		case "text", "filled":
			if Filled(e) != (want == "filled") {
				t.Errorf("%s: the template is taken for something else", text)
			}
		}
	}
}

// TestHeldPool: the New of a package variable's pool, and those of others.
func TestHeldPool(t *testing.T) {
	for function, want := range map[string]bool{
		"example.com/a.init.func1": false, "example.com/a.glob..func2": false, "example.com/a.newBuffer": false,
		"example.com/a.(*Writer).init.func1": true, "example.com/a.New.func1.2": true,
	} {
		if HeldPool(function) != want {
			t.Errorf("%s: %v", function, !want)
		}
	}
}
