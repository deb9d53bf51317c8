//go:build race

package alloctest_test

const race = true
