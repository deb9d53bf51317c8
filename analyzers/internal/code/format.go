package code

import "strings"

// Verbs splits a format into its verbs, "%%" apart; ok is false if one of them
// has a flag, a width, or an index.
func Verbs(format string) (list []byte, ok bool) {
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return list, true
		}
		if rest == "" {
			return nil, false
		}
		switch verb := rest[0]; verb {
		case '%':
		case 's', 'd', 'v', 'q', 't', 'x', 'f', 'g', 'c', 'w', 'T', 'p':
			list = append(list, verb)
		default:
			return nil, false
		}
		format = rest[1:]
	}
}
