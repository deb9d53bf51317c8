// Package objdump reads what go tool objdump prints: the instructions of
// functions with the source lines that they come from.
package objdump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// SyntaxError is a line that is no part of such a text.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Limits, far beyond real code, so that no text can fill the memory.
const (
	maxLine         = 64 << 10
	maxInstructions = 1 << 20 // of one function
)

// Read yields each function of a text, in its order; the function belongs to
// yield. It stops at the first error: a *SyntaxError of the text, yield's own as
// it is, or r's. name is for messages. Memory grows with the longest function.
func Read(name string, r io.Reader, yield func(evidence.Code) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	var f evidence.Code
	open := false
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), " \t\r")
		wrong := func(msg string) error { return &SyntaxError{name, n, msg} }
		if head, ok := strings.CutPrefix(line, "TEXT "); ok {
			if open {
				if err := yield(f); err != nil {
					return err
				}
			}
			symbol, file, ok := cutSymbol(head)
			if !ok {
				return wrong("a TEXT line without the name of a function")
			}
			f, open = evidence.Code{Function: symbol, File: file}, true
			continue
		}
		if line == "" {
			continue
		}
		if !open {
			return wrong("an instruction before the first TEXT line")
		}
		if len(f.Instructions) == maxInstructions {
			return wrong("a function with more than a million instructions")
		}
		i, err := parseInstruction(line)
		if err != nil {
			return wrong(err.Error())
		}
		f.Instructions = append(f.Instructions, i)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read disassembly %s: %w", name, err)
	}
	if open {
		return yield(f)
	}
	return nil
}

// cutSymbol divides "NAME(SB) FILE"; the name of a generic function may hold
// spaces.
func cutSymbol(s string) (symbol, file string, ok bool) {
	symbol, file, ok = strings.Cut(s, "(SB)")
	return symbol, strings.TrimSpace(file), ok && symbol != ""
}

// parseInstruction reads FILE:LINE, address, bytes and text, which are divided
// by one or more tabs.
func parseInstruction(line string) (evidence.Instruction, error) {
	place, rest := nextCell(line)
	address, rest := nextCell(rest)
	_, text := nextCell(rest)
	var out evidence.Instruction
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return out, errors.New("no FILE:LINE")
	}
	n, err := strconv.Atoi(place[at+1:])
	if err != nil || n < 0 {
		return out, fmt.Errorf("line %.20q", place[at+1:])
	}
	hex, ok := strings.CutPrefix(address, "0x")
	if out.Address, err = strconv.ParseUint(hex, 16, 64); err != nil || !ok {
		return out, fmt.Errorf("address %.40q", address)
	}
	if text == "" {
		return out, errors.New("no instruction")
	}
	out.File, out.Line, out.Text = place[:at], n, strings.ReplaceAll(text, "\t", " ")
	return out, nil
}

// nextCell cuts the first cell off a line, and the tabs that follow it.
func nextCell(s string) (cell, rest string) {
	cell, rest, _ = strings.Cut(strings.TrimLeft(s, " \t"), "\t")
	return strings.TrimSpace(cell), strings.TrimLeft(rest, "\t")
}
