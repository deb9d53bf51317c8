// Package auto sets the ballast of a program by the environment, with a blank
// import in package main and no call:
//
//	import _ "github.com/heaptrim/heaptrim/rt/ballast/auto"
//
// The variable HEAPTRIM_BALLAST holds the options, in the form that
// [ballast.Parse] reads; unset or empty it means "auto", and "off" leaves
// everything as it is. What is wrong with it is logged by the default [slog]
// logger, and then nothing is set. There is no Stop; a program that wants one, or
// any say at all, calls [ballast.Set] instead.
package auto

import (
	"log/slog"
	"os"

	"github.com/heaptrim/heaptrim/rt/ballast"
)

// Variable is the name of the environment variable.
const Variable = "HEAPTRIM_BALLAST"

// A blank import runs nothing but init: it is the only way to do without a call,
// and whoever imports this package asks for just that.
func init() {
	if err := setFrom(os.Getenv(Variable)); err != nil {
		slog.Error("memory settings left as they are", "variable", Variable, "err", err)
	}
}

func setFrom(text string) error {
	switch text {
	case "off":
		return nil
	case "":
		text = "auto"
	}
	o, err := ballast.Parse(text)
	if err != nil {
		return err
	}
	_, err = ballast.Set(o)
	return err
}
