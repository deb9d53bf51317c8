//go:build !race

package alloctest_test

const race = false
