package avoidconversion

import "strings"

func first(s string) string {
	return strings.Split(s, ":")[0] // want `Split makes a slice of all parts for the first: use strings.Cut`
}

func firstOf(s string) string {
	parts := strings.Split(s, ":") // want `for the first: use strings.Cut`
	return parts[0]
}

func last(s string) string {
	parts := strings.Split(s, ".") // want `for the last: cut at strings.LastIndex`
	return parts[len(parts)-1]
}

func two(s string) (string, string) {
	kv := strings.SplitN(s, "=", 2) // want `SplitN makes a slice for two parts: strings.Cut returns them`
	if len(kv) != 2 {
		return s, ""
	}
	return kv[0], kv[1]
}

func exactlyTwo(s string) (string, bool) {
	kv := strings.Split(s, "=") // want `where two are looked at: strings.Cut, and a look for a further separator`
	if len(kv) != 2 {
		return "", false
	}
	return kv[0] + kv[1], true
}

func count(s string) int {
	return len(strings.Split(s, ",")) // want `to count them: use strings.Count`
}

func loops(s string, use func(string)) {
	for _, p := range strings.Split(s, ",") { // want `strings.SplitSeq yields them one by one`
		use(p)
	}
	words := strings.Fields(s) // want `strings.FieldsSeq`
	for _, w := range words {
		use(w)
	}
}

func splitSilent(s string, use func(int, string)) []string {
	for i, p := range strings.Split(s, ",") {
		use(i, p)
	}
	parts := strings.Split(s, ",")
	parts[0] = "x"
	characters := strings.Split(s, "")
	use(0, characters[0])
	three := strings.SplitN(s, "/", 3)
	use(1, three[0]+three[2])
	list := strings.Split(s, ";")
	for range 2 {
		for _, p := range list { // walked through twice
			use(0, p)
		}
	}
	return parts
}

type splitter struct{}

func (splitter) Split(s, sep string) []string { return nil }

func shadowedSplit(s string) string {
	var strings splitter
	return strings.Split(s, ":")[0]
}
