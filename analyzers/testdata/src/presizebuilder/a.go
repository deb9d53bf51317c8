package presizebuilder

import (
	"bytes"
	"strings"
)

func lower(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i] | 0x20) // want `b grows while it takes what becomes of s: call b.Grow\(len\(s\)\) before the loop`
	}
	return b.String()
}

func escape(s string) string {
	b := &bytes.Buffer{}
	for _, r := range s {
		if r == '"' {
			b.WriteString(`\"`) // want `call b.Grow\(len\(s\)\)`
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escapeMore(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '"':
			b.WriteString(`\"`) // want `call b.Grow\(len\(s\)\)`
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escapeEarly(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			b.WriteString(`\"`) // want `call b.Grow\(len\(s\)\)`
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func join(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p) // want `b grows while it takes the strings of parts: add up their lengths and call b.Grow before the loop`
		b.WriteByte(',')
	}
	return b.String()
}

// Silent from here on.

func digits(s string) string {
	var b strings.Builder
	for _, r := range s {
		if '0' <= r && r <= '9' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func without(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func untilQuote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			break
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func grown(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
	}
	return b.String()
}

func sizesUnknown(parts []interface{ String() string }) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.String())
	}
	return b.String()
}

type builder struct{}

func (builder) WriteByte(byte) error { return nil }

func shadowed(s string) {
	var strings struct{ Builder builder }
	b := strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
	}
}
