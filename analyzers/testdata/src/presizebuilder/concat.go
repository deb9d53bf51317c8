package presizebuilder

import "fmt"

func joinList(list []string) string {
	s := "["
	for _, e := range list {
		if len(s) > 1 {
			s += ", " // want `s is copied whole`
		}
		s += e
	}
	return s + "]"
}

func joinAll(list []string) string {
	s := ""
	for _, e := range list {
		if s != "" {
			s += ", " // want `s is copied whole each time it grows: collect the parts in a strings.Builder`
		}
		s += e
	}
	return s
}

func joinSums(list []string) (s string) {
	for _, e := range list {
		s = s + e + "," // want `s is copied whole`
	}
	return s
}

func joinFormatted(list []string) (s string) {
	for _, e := range list {
		s = fmt.Sprintf("%s%s,", s, e) // want `s is copied whole`
	}
	return s
}

// Silent from here on.

func paths(list []string, visit func(string)) {
	path := ""
	for _, e := range list {
		path += "/" + e
		visit(path)
	}
}

func readInBetween(list []string, next func(string) string) (s string) {
	for range list {
		s += next(s)
	}
	return s
}

func once(list []string) string {
	s := "x"
	for _, e := range list {
		if e != "" {
			s += e
			break
		}
	}
	return s
}

func perTrip(list []string, use func(string)) {
	for _, e := range list {
		s := e
		s += "!"
		use(s)
	}
}

func few() (s string) {
	for _, e := range []string{"a", "b"} {
		s += e
	}
	return s
}

func numbers(list []int) (n int) {
	for _, e := range list {
		n += e
	}
	return n
}
