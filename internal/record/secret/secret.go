// Package secret removes secrets from command lines, because bundles and reports are
// made to be shared.
package secret

import (
	"regexp"
	"strconv"
	"strings"
)

// blank replaces a secret.
const blank = "xxxxx"

// named matches the names of flags, variables and headers whose values are secret.
var named = regexp.MustCompile(`(?i)(pass|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth|cookie|dsn)|` +
	`(^|[-_.D])key$`)

// header matches a header line, up to its value.
var header = regexp.MustCompile(`^["']?([A-Za-z][A-Za-z0-9-]*):\s*`)

// Args returns a command line without its secrets: the values of flags, assignments
// and headers with secret-looking names, passwords in URLs, and the value of -p unless
// it is a number (a port). The first argument is the program.
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

// word blanks one argument. before is the preceding flag if its value may be secret,
// otherwise "".
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

// password matches the password of a URL; the group is the part before it.
var password = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]*:)[^\s/@]+@`)

// address returns s without the passwords of the URLs in it.
func address(s string) string { return password.ReplaceAllString(s, "${1}"+blank+"@") }

var (
	words        = regexp.MustCompile(`\S+`)
	quotedHeader = regexp.MustCompile(`(["'])([A-Za-z][A-Za-z0-9-]*):[^"']*(["'])`)
)

// Line does for a shell command line what Args does for arguments.
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
