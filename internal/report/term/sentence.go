package term

import "strings"

// Sentence begins with a capital letter.
func Sentence(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// FullSentence begins with a capital letter and ends with a stop.
func FullSentence(s string) string {
	s = Sentence(strings.TrimSpace(s))
	if s == "" || strings.ContainsRune(".!?:", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}
