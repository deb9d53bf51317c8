package watch

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostSized limits texts that are made of a certain length.
const mostSized = 4096

// mostCuts limits the places of marks that are looked for in one text.
const mostCuts = 64

// mark is a short text that the changed code knows, or one of those at which code often cuts.
func (p *player) mark() string {
	near := p.s.plan.Near
	switch k := p.n(8); {
	case k < 4 && len(near.Hot) > 0:
		return near.Hot[p.n(len(near.Hot))]
	case k < 7 && len(near.Marks) > 0:
		return near.Marks[p.n(len(near.Marks))]
	}
	usual := [...]string{" ", ",", ".", ":", "=", "/", "\n", "\t", "-", ";", "\"", "\r\n", "\u00a0", "_", "É"}
	return usual[p.n(len(usual))]
}

// marked is a text with a mark too many, too few, or at an edge, or with a piece between marks too many or
// too few: there code that cuts and trims is easily wrong.
func (p *player) marked(w string) string {
	m, cuts := p.mark(), p.cuts(w)
	if p.n(4) == 0 {
		m += m
	}
	k := p.n(len(cuts))
	at, next := cuts[k], cuts[min(k+1, len(cuts)-1)]
	switch p.n(8) {
	case 0:
		return m + w
	case 1:
		return w + m
	case 2:
		return m + w + m
	case 3:
		return w[:at] + w[next:]
	case 4:
		return w[:next] + w[at:]
	case 5:
		return strings.ReplaceAll(w, m, m[:p.n(2)*len(m)]+m)
	}
	return w[:at] + m + w[at:]
}

// lined is a text of lines with one too many, too few, or behind another one.
func (p *player) lined(w string) string {
	lines := strings.SplitAfter(w, "\n")
	at := p.n(len(lines))
	switch p.n(5) {
	case 0:
		return strings.Join(slices.Delete(lines, at, at+1), "")
	case 1:
		lines[at] = p.mark() + lines[at]
	case 2:
		lines[at] = lines[p.n(len(lines))] + lines[at]
	case 3:
		others := strings.SplitAfter(p.word(), "\n")
		lines[at] = strings.TrimSuffix(others[p.n(len(others))], "\n") + "\n" + lines[at]
	default:
		lines[at] = p.mark() + p.letters() + "\n" + lines[at]
	}
	return strings.Join(lines, "")
}

// cuts are the places in a text where a mark or another kind of characters begins or ends, and its ends.
func (p *player) cuts(w string) []int {
	list := []int{0, len(w)}
	for i := 1; i < len(w) && len(list) < mostCuts/2; i++ {
		if a, b := class(w[i-1]), class(w[i]); a != b || a == 0 && w[i-1] != w[i] {
			list = append(list, i)
		}
	}
	for _, m := range p.s.plan.Near.Marks {
		for at := 0; len(list) < mostCuts; {
			i := strings.Index(w[at:], m)
			if i < 0 {
				break
			}
			at += i + len(m)
			list = append(list, at-len(m), at)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// class is the kind of a character: a letter, a digit, one beyond ASCII, or 0 for all others.
func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return 1
	case c >= '0' && c <= '9':
		return 2
	case c >= utf8.RuneSelf:
		return 3
	}
	return 0
}

// sized is a text as long as a number that the changed code knows, or one byte off.
func (p *player) sized(w string) string {
	numbers := p.s.plan.Near.Numbers
	if len(numbers) == 0 || w == "" {
		return p.marked(w)
	}
	n := numbers[p.n(len(numbers))] + int64(p.n(3)-1)
	if n < 0 || n > mostSized {
		return p.marked(w)
	}
	return strings.Repeat(w, int(n)/len(w)+1)[:n]
}

// vary changes some of what a copied value holds as a caller could have written it otherwise: exported
// fields, elements and entries of plain types.
func (p *player) vary(v reflect.Value, depth int) {
	if !v.IsValid() || depth > mostDeep {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !shared(v.Type().Elem()) {
			p.vary(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				p.vary(v.Field(i), depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice && v.CanSet() {
			if p.n(2) == 0 {
				v.SetBytes([]byte(p.varied(string(v.Bytes()))))
			}
			return
		}
		for i := range min(v.Len(), 8) {
			p.vary(v.Index(i), depth+1)
		}
	case reflect.Map:
		p.varyEntry(v, depth)
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			to := addressable(v.Elem())
			if to.Kind() != reflect.Pointer {
				to = reflect.New(to.Type()).Elem()
				to.Set(v.Elem())
			}
			p.vary(to, depth+1)
			if other, ok := p.retagged(to); ok && v.NumMethod() == 0 {
				to = other
			}
			v.Set(to)
		}
	case reflect.String:
		if v.CanSet() && p.n(2) == 0 {
			v.SetString(p.varied(v.String()))
		}
	default:
		if flat(v.Kind()) && v.CanSet() && p.n(2) == 0 {
			v.Set(p.value(v.Type(), mostDeep))
		}
	}
}

// varyEntry changes one entry of a map.
func (p *player) varyEntry(v reflect.Value, depth int) {
	if v.Len() == 0 || v.Len() > mostSized {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(p.s.text(a, false), p.s.text(b, false)) })
	k := keys[p.n(len(keys))]
	to := reflect.New(v.Type().Elem()).Elem()
	to.Set(v.MapIndex(k))
	p.vary(to, depth+1)
	v.SetMapIndex(k, to)
}

// fromTests is a copy of a value that tests used, of a type that a value of an interface may have, with
// some of it changed.
func (p *player) fromTests(t reflect.Type) (reflect.Value, bool) {
	var fit []reflect.Type
	for _, have := range p.s.of.poolTypes {
		if have.Kind() != reflect.Interface && have.Implements(t) {
			fit = append(fit, have)
		}
	}
	if len(fit) == 0 {
		return reflect.Value{}, false
	}
	list := p.s.of.pool[fit[p.n(len(fit))]]
	v, ok := clone(list[p.n(len(list))].value)
	if ok && p.n(3) != 0 {
		p.vary(v, 0)
		if other, is := p.retagged(v); is && t.NumMethod() == 0 {
			v = other
		}
	}
	return v, ok
}

// retagged is now and then a struct, or a pointer to one, whose type has a tag that is changed: to code that
// goes by tags, they are arguments. It has no methods.
func (p *player) retagged(v reflect.Value) (out reflect.Value, ok bool) {
	from := reflect.Indirect(v)
	if from.Kind() != reflect.Struct || from.NumField() == 0 || p.n(4) != 0 {
		return v, false
	}
	fields := reflect.VisibleFields(from.Type())
	for _, f := range fields {
		if !f.IsExported() || f.Anonymous {
			return v, false
		}
	}
	f := &fields[p.n(len(fields))]
	name, quoted, _ := strings.Cut(string(f.Tag), ":")
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return v, false // none, or several
	}
	f.Tag = reflect.StructTag(name + ":" + strconv.Quote(p.varied(value)))
	out = reflect.New(reflect.StructOf(fields))
	for i := range fields {
		out.Elem().Field(i).Set(from.Field(i))
	}
	if v.Kind() != reflect.Pointer {
		out = out.Elem()
	}
	return out, true
}
