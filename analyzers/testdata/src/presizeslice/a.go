package presizeslice

import (
	"errors"
	"reflect"
	"strconv"
)

type user struct{ name string }

func names(users []user) []string {
	var out []string
	for _, u := range users {
		out = append(out, u.name) // want `out grows step by step to a length known before the loop: make it with capacity len\(users\)`
	}
	return out
}

func named(users map[string]user) (out []string) {
	for name := range users {
		out = append(out, name) // want `capacity len\(users\)`
	}
	return
}

func pairs(users []user) []string {
	out := make([]string, 0)
	for i := 0; i < len(users); i++ {
		out = append(out, users[i].name, "x") // want `capacity 2\*len\(users\)`
	}
	return out
}

func fields(t reflect.Type) []string {
	out := []string{}
	for i := 0; i < t.NumField(); i++ {
		out = append(out, t.Field(i).Name) // want `capacity t.NumField\(\)`
	}
	return out
}

func parsed(texts []string) ([]int, error) {
	var out []int
	for _, t := range texts {
		n, err := strconv.Atoi(t)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, errors.New("negative")
		}
		out = append(out, n) // want `capacity len\(texts\)`
	}
	return out, nil
}

func generic[S ~[]E, E any](in S) []E {
	var out []E
	for _, e := range in {
		out = append(out, e)
	}
	return out
}

func genericElem[E any](in []E) []E {
	var out []E
	for _, e := range in {
		out = append(out, e) // want `capacity len\(in\)`
	}
	return out
}

// Silent from here on.

func filtered(users []user) []string {
	var out []string
	for _, u := range users {
		if u.name == "" {
			continue
		}
		out = append(out, u.name)
	}
	return out
}

func conditional(users []user) []string {
	var out []string
	for _, u := range users {
		if u.name != "" {
			out = append(out, u.name)
		}
	}
	return out
}

func untilFound(users []user) []string {
	var out []string
	for _, u := range users {
		out = append(out, u.name)
		if u.name == "last" {
			break
		}
	}
	return out
}

func sized(users []user) []string {
	out := make([]string, 0, len(users))
	for _, u := range users {
		out = append(out, u.name)
	}
	return out
}

func filled(users []user, first []string) []string {
	out := first
	for _, u := range users {
		out = append(out, u.name)
	}
	return out
}

func alreadyUsed(users []user) []string {
	var out []string
	out = append(out, "head")
	for _, u := range users {
		out = append(out, u.name)
	}
	return out
}

func claimed(n int, read func() byte) []byte {
	var out []byte
	for i := 0; i < n; i++ { // n may be anybody's claim
		out = append(out, read())
	}
	return out
}

func three(read func() byte) []byte {
	var out []byte
	for range 3 {
		out = append(out, read())
	}
	return out
}

func received(ch chan int) []int {
	var out []int
	for v := range ch {
		out = append(out, v)
	}
	return out
}

func queue(work []int) []int {
	var seen []int
	for i := 0; i < len(work); i++ {
		seen = append(seen, work[i])
		work = append(work, work[i]-1)
	}
	return seen
}

func shadowed(users []user) []string {
	append := func(s []string, more ...string) []string { return s }
	var out []string
	for _, u := range users {
		out = append(out, u.name)
	}
	return out
}

func shadowedLen(users []user, len func([]user) int) []string {
	var out []string
	for i := 0; i < len(users); i++ {
		out = append(out, users[i].name)
	}
	return out
}

func constantText() []int {
	var out []int
	for i := range "0-+# " {
		out = append(out, i)
	}
	return out
}

func init() {
	var all []string
	for _, u := range []user{{"a"}, {"b"}} {
		all = append(all, u.name)
	}
	_ = all
}
