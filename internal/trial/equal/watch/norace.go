//go:build !race

package watch

func races() int { return 0 }
