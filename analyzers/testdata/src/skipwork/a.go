package skipwork

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

func parts(s string, preset []string) []string {
	list := strings.Split(s, ",") // want `strings.Split makes a value that the next branch replaces: make it in an else`
	if preset != nil {
		list = preset
	}
	return list
}

func load(a, b string, cache map[string]int) int {
	key := fmt.Sprintf("%s/%s", a, b) // want `fmt.Sprintf makes a value that the early return after it does not use`
	if cache == nil {
		return 0
	}
	return cache[key]
}

func debug(l *slog.Logger, names []string, raw []byte) {
	l.Debug("names", "list", strings.Join(names, ",")) // want `strings.Join runs even when the level is off`
	l.Debug("raw", "text", string(raw))                // want `the bytes are copied to a string even when the level is off`
	l.Info("names", "list", strings.Join(names, ","))
	l.Debug("plain", "names", names)
	if l.Enabled(nil, slog.LevelDebug) {
		l.Debug("names", "list", strings.Join(names, ","))
	}
}

// Silent from here on.

func usesFirst(s string) []string {
	list := strings.Split(s, ",")
	if len(list) == 1 {
		list = nil
	}
	return list
}

func failing(a, b string, err error) (string, error) {
	key := fmt.Sprintf("%s/%s", a, b)
	if err != nil {
		return "", err
	}
	return key, nil
}

func refused(a, b string, open bool) (string, error) {
	key := fmt.Sprintf("%s/%s", a, b)
	if !open {
		return "", errors.New("closed")
	}
	return key, nil
}

func effects(next func() string, stop bool) string {
	text := fmt.Sprintf("%s", next())
	if stop {
		return ""
	}
	return text
}

func empty(list []int) []int {
	out := make([]int, 0, len(list))
	if len(list) == 0 {
		return nil
	}
	return append(out, list...)
}

type formatter struct{}

func (formatter) Sprintf(string, ...any) string { return "" }

func shadowed(a string, stop bool) string {
	var fmt formatter
	text := fmt.Sprintf("%s", a)
	if stop {
		return ""
	}
	return text
}

type probe struct{}

func (probe) Debug(string) {}

func notALogger(d probe, names []string) { d.Debug(strings.Join(names, ",")) }
