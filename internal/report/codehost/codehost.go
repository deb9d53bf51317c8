// Package codehost has what code hosts want of a log of findings: files as URIs relative to
// the repository, and hashes of lines that later logs are joined by.
package codehost

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Roots are the folders that the URIs of a log depend on.
type Roots struct {
	module     string // "" if it is not known
	repository string // the module's, or the module itself
}

// NewRoots takes the folder of the module and that of its repository. Either may be empty if
// it is not known; without a repository, URIs are relative to the module.
func NewRoots(module, repository string) Roots {
	r := Roots{slashes(module), slashes(repository)}
	if r.repository == "" {
		r.repository = r.module
	}
	return r
}

func slashes(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if len(name) > 2 && name[1] == ':' && name[2] == '/' {
		name = "/" + name // a drive of Windows
	}
	return name
}

// URI returns a file, absolute or relative to the module, as a URI, and whether that is
// relative to the repository's root, as it is where the file lies below it. Code hosts accept
// no path that leads out of the root.
func (r Roots) URI(file string) (uri string, below bool) {
	file = slashes(file)
	if !strings.HasPrefix(file, "/") && r.module != "" {
		file = r.module + "/" + file
	}
	file = path.Clean(file)
	if r.repository != "" {
		if name, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(r.repository), "/")+"/"); ok {
			file = name
		}
	}
	if strings.HasPrefix(file, "/") {
		return (&url.URL{Scheme: "file", Path: file}).String(), false
	}
	return (&url.URL{Path: file}).String(), true
}

// hashedUnits is how much text from a line's start identifies the line.
const hashedUnits = 100

// LineHashes returns the values of primaryLocationLineHash for the lines of a file, the first at
// index 0, as GitHub's upload action computes them: it warns of others. A hash covers 100
// UTF-16 units from the start of the line, without spaces and tabs; the number behind it
// counts the lines with that hash so far.
func LineHashes(source []byte) []string {
	const base, end = 37, 0xffff
	var units []uint16
	starts := []int{0}
	lastCR := false
	for _, u := range utf16.Encode([]rune(string(source))) {
		skip := u == ' ' || u == '\t' || lastCR && u == '\n'
		lastCR = u == '\r'
		if skip {
			continue
		}
		if lastCR {
			u = '\n'
		}
		units = append(units, u)
		if u == '\n' {
			starts = append(starts, len(units))
		}
	}
	units = append(append(units, end), make([]uint16, hashedUnits)...)
	var hash uint64
	first := uint64(1) // the factor of the oldest unit
	for i := range hashedUnits {
		hash = hash*base + uint64(units[i])
		if i > 0 {
			first *= base
		}
	}
	out, seen, at := make([]string, 0, len(starts)), map[uint64]int{}, 0
	for _, start := range starts {
		for ; at < start; at++ {
			hash = (hash-uint64(units[at])*first)*base + uint64(units[at+hashedUnits])
		}
		seen[hash]++
		out = append(out, strconv.FormatUint(hash, 16)+":"+strconv.Itoa(seen[hash]))
	}
	return out
}
