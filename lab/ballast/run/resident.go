//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/heaptrim/heaptrim/lab/ballast/gateway"
)

const thpFile = "/sys/kernel/mm/transparent_hugepage/enabled"

// residents prints the resident memory of a process with 64 MiB alive, without a
// ballast and with one of 10 GiB.
func residents(w io.Writer, child string, thp bool) (err error) {
	if child != "" {
		return resident(w, child)
	}
	if thp {
		restore, err := alwaysHuge()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
	}
	mode, err := os.ReadFile(thpFile)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "transparent huge pages: %s\n", strings.TrimSpace(string(mode)))
	var base float64
	for i, s := range []string{"gogc=100", "ballast=10240", "heaptrim-classic=10240"} {
		var least float64
		for range 5 {
			line, err := self("-experiment", "resident", "-child", s)
			if err != nil {
				return fmt.Errorf("setting %s: %w", s, err)
			}
			var mib float64
			if err := json.Unmarshal(line, &mib); err != nil {
				return fmt.Errorf("setting %s: %w", s, err)
			}
			if least == 0 || mib < least {
				least = mib
			}
		}
		if i == 0 {
			base = least
		}
		fmt.Fprintf(w, "| %s | %.1f MiB | %+.1f MiB |\n", s, least, least-base)
	}
	return nil
}

// resident is the child: it has 64 MiB alive, and collects.
func resident(w io.Writer, text string) error {
	s, err := parseSetting(text)
	if err != nil {
		return err
	}
	keep, err := s.apply(0, 0)
	if err != nil {
		return err
	}
	service := gateway.New(64 << 20)
	for range 8 {
		runtime.GC()
	}
	_, anonymous := gateway.Resident()
	runtime.KeepAlive(keep)
	runtime.KeepAlive(service)
	return json.NewEncoder(w).Encode(float64(anonymous) / (1 << 20))
}

// alwaysHuge switches huge pages on and returns what switches them back.
func alwaysHuge() (restore func() error, err error) {
	text, err := os.ReadFile(thpFile)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), "[")
	before, _, ok := strings.Cut(rest, "]")
	if !ok {
		return nil, fmt.Errorf("%s: %q", thpFile, text)
	}
	// An interrupt must not leave the machine changed: the children end, and so do we.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	restore = func() error { return os.WriteFile(thpFile, []byte(before), 0) }
	return restore, os.WriteFile(thpFile, []byte("always"), 0)
}
