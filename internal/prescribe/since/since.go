// Package since knows with which release of Go the functions came that advice names.
package since

import (
	"go/version"
	"regexp"
	"strings"
)

// releases are those of the functions and packages that texts name, from the release notes of Go. Functions that are named
// beside an older way do not stand here.
var releases = []struct {
	names   *regexp.Regexp
	release string
}{
	{regexp.MustCompile(`\berrors\.AsType\b`), "go1.26"},
	{regexp.MustCompile(`\bAppend(Binary|Text)\b|\bFields(Func)?Seq\b`), "go1.24"},
	{regexp.MustCompile(`\bunique\.[A-Z]|\bbinary\.Append\b|\bslices\.(AppendSeq|Collect|Sorted)\b|\bmaps\.Insert\b`), "go1.23"},
	{regexp.MustCompile(`\bAppend(En|De)code\b`), "go1.22"},
	{regexp.MustCompile(`\b(slices|maps|cmp)\.[A-Z]|\bsync\.Once(Func|Value)`), "go1.21"},
	{regexp.MustCompile(`\butf16\.AppendRune\b|\bSetZero\b`), "go1.20"},
	{regexp.MustCompile(`\bfmt\.Append|\bAppendUint(16|32|64)\b`), "go1.19"},
	{regexp.MustCompile(`\bnetip\.|AddrPort\b|\bSetIter(Key|Value)\b|\bAppendRune\b`), "go1.18"},
}

// quoted matches what a text quotes of the user's code.
var quoted = regexp.MustCompile("`[^`]*`")

// Allows reports whether code of a module with a go directive can follow a text, in which names of the user's code are quoted or
// words in braces. An empty or unknown directive allows all.
func Allows(directive, text string) bool {
	if directive == "" || !version.IsValid("go"+directive) {
		return true
	}
	text = quoted.ReplaceAllString(text, "")
	for _, r := range releases {
		if r.names.MatchString(text) && version.Compare("go"+directive, r.release) < 0 {
			return false
		}
	}
	return true
}

// Wording is a text in words that a module with a go directive has: one that is older than the builtin clear deletes keys, and
// a timer of one that is older than Go 1.23 may have something left in its channel.
func Wording(directive, text string) string {
	before := func(release string) bool {
		return directive != "" && version.IsValid("go"+directive) && version.Compare("go"+directive, release) < 0
	}
	if before("go1.21") {
		text = strings.ReplaceAll(text, "clear `", "delete all keys of `")
	}
	if before("go1.23") {
		text = timerReset.ReplaceAllString(text, "${1}, Stop and drain it, and Reset it")
	}
	return text
}

// timerReset matches advice to set a timer again.
var timerReset = regexp.MustCompile(`\b(one timer(?: with time\.NewTimer before the loop)?|one ticker) and Reset it`)
