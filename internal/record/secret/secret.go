// Package secret blanks what command lines say in confidence: a bundle and a
// report are made to be sent around.
package secret

import (
	"regexp"
	"strconv"
	"strings"
)

// blank stands in the place of a secret.
const blank = "xxxxx"

// named matches the names of flags, variables and headers whose values are secret.
var named = regexp.MustCompile(`(?i)(pass|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth|cookie|dsn)|` +
	`(^|[-_.D])key$`)

// header matches a header line, up to its value.
var header = regexp.MustCompile(`^["']?([A-Za-z][A-Za-z0-9-]*):\s*`)

// Args returns a command line without the values of flags, assignments and
// headers whose names tell that they are secret, without passwords in addresses,
// and without the value of -p where that is no number, as a port would be. The
// first argument is the program.
func Args(command []string) []string {
	out := make([]string, len(command))
	next := "" // the flag whose value comes next
	for i, arg := range command {
		out[i] = arg
		if i == 0 {
			continue
		}
		out[i], next = word(arg, next)
	}
	return out
}

// word blanks one argument that stands behind the flag before, or behind "".
func word(arg, before string) (blanked, flag string) {
	name, value, assigned := strings.Cut(arg, "=")
	h := header.FindStringSubmatch(arg)
	switch {
	case before != "" && !strings.HasPrefix(arg, "-") && (before != "-p" || !isNumber(arg)):
		return blank, ""
	case h != nil && named.MatchString(h[1]):
		return h[0] + blank, ""
	case assigned && named.MatchString(name):
		return name + "=" + blank, ""
	case assigned:
		return name + "=" + address(value), ""
	case strings.HasPrefix(arg, "-") && (arg == "-p" || named.MatchString(name)):
		return arg, arg
	}
	return address(arg), ""
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// password matches that of a URL, behind what is kept.
var password = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]*:)[^\s/@]+@`)

// address returns s without the passwords of the URLs in it.
func address(s string) string { return password.ReplaceAllString(s, "${1}"+blank+"@") }

var (
	words        = regexp.MustCompile(`\S+`)
	quotedHeader = regexp.MustCompile(`(["'])([A-Za-z][A-Za-z0-9-]*):[^"']*(["'])`)
)

// Line is Args for a line that a shell reads.
func Line(line string) string {
	line = quotedHeader.ReplaceAllStringFunc(line, func(s string) string {
		m := quotedHeader.FindStringSubmatch(s)
		if !named.MatchString(m[2]) {
			return s
		}
		return m[1] + m[2] + ":" + blank + m[3]
	})
	next := ""
	return words.ReplaceAllStringFunc(line, func(s string) string {
		if strings.Contains(s, ":"+blank) {
			return s
		}
		var out string
		out, next = word(s, next)
		return out
	})
}
