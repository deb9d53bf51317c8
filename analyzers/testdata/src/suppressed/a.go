package suppressed

import "strings"

func first(s string) (n int) {
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`
	n += len(strings.Split(s, ",")[0]) //nolint
	n += len(strings.Split(s, ",")[0]) // nolint // short
	n += len(strings.Split(s, ",")[0]) //nolint:heaptrim
	n += len(strings.Split(s, ",")[0]) //nolint:errcheck,heaptrim // short
	n += len(strings.Split(s, ",")[0]) //nolint:errcheck, avoid-conversion
	n += len(strings.Split(s, ",")[0]) //nolint:avoidconversion
	n += len(strings.Split(s, ",")[0]) //nolint:all
	n += len(strings.Split(s, ",")[0]) /* want `Split makes a slice` */ //nolint:errcheck
	n += len(strings.Split(s, ",")[0]) /* want `Split makes a slice` */ //nolint:presize-slice
	n += len(strings.Split(s, ",")[0]) /* want `Split makes a slice` */ //nolinting
	return n
}

func ignored(s string) (n int) {
	//lint:ignore heaptrim short
	n += len(strings.Split(s, ",")[0])
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`
	n += len(strings.Split(s, ",")[0]) //lint:ignore SA1000,avoid-conversion short
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`

	//lint:ignore heaptrim* short
	//lint:ignore SA1000 another linter
	n += len(strings.Split(s, ",")[0])
	//lint:ignore SA1000 another linter
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`
	//lint:ignore heaptrim
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`
	//nolint:heaptrim
	n += len(strings.Split(s, ",")[0]) // want `Split makes a slice`
	return n
}
