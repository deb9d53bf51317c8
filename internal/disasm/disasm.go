// Package disasm finds the machine code of a recording's functions: in a program that is named, in
// the recording, or in the program where it was recorded, if that is the same build.
package disasm

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/objdump"
	"github.com/heaptrim/heaptrim/internal/record/after"
	"github.com/heaptrim/heaptrim/internal/web"
)

// Reader returns what finds the machine code of functions of a recording; binary is the program
// that the user names, "" for none.
func Reader(ctx context.Context, r *bundle.Bundle, binary string) func(web.Binary, []string) ([]evidence.Code, error) {
	return func(b web.Binary, functions []string) ([]evidence.Code, error) {
		if binary != "" {
			return disassemble(ctx, binary, functions)
		}
		kept, err := keptCode(r, b)
		if err != nil || len(kept) > 0 {
			return kept, err
		}
		// A recording may come from anybody: the file that it names is opened only
		// if it is what was recorded.
		switch id, err := buildID(b.File); {
		case errors.Is(err, os.ErrNotExist):
			return nil, errors.New("the recording holds no machine code of it, and it is not on this computer; name it with -binary")
		case err != nil:
			return nil, fmt.Errorf("the recording holds no machine code of it, and its build ID cannot be read: %w", err)
		case b.BuildID == "" || id != b.BuildID:
			return nil, errors.New("the recording holds no machine code of it, and the program of that name here is another build, or one without a build ID; name the right one with -binary")
		}
		return disassemble(ctx, b.File, functions)
	}
}

func disassemble(ctx context.Context, binary string, functions []string) ([]evidence.Code, error) {
	text, err := after.Disassemble(ctx, binary, functions)
	if err != nil {
		return nil, err
	}
	var out []evidence.Code
	err = objdump.Read(binary, bytes.NewReader(text), func(c evidence.Code) error {
		out = append(out, c)
		return nil
	})
	return out, err
}

// keptCode reads the machine code that the recording holds of a binary: the
// runs of one package have one binary, and the first of them its code.
func keptCode(r *bundle.Bundle, b web.Binary) ([]evidence.Code, error) {
	packages := map[string]bool{}
	for _, run := range r.Manifest.Runs {
		if slices.Contains(b.Runs, run.Name) {
			packages[run.Package] = true
		}
	}
	var out []evidence.Code
	for _, run := range r.Manifest.Runs {
		if !packages[run.Package] {
			continue
		}
		for _, part := range run.Parts {
			if part.Kind != evidence.KindCode {
				continue
			}
			f, err := os.Open(r.Path(part))
			if err != nil {
				return nil, err
			}
			err = objdump.Read(part.Path, f, func(c evidence.Code) error {
				out = append(out, c)
				return nil
			})
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// buildID is the GNU build ID of an ELF file, in hexadecimal digits.
func buildID(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", os.ErrNotExist
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Size > 4<<10 {
		return "", nil
	}
	note, err := s.Data()
	if err != nil || len(note) < 16 {
		return "", err
	}
	// Lengths of name and content, the type, the name "GNU\0", the content.
	n := int(f.ByteOrder.Uint32(note[4:]))
	if n < 0 || len(note) < 16+n || string(note[12:16]) != "GNU\x00" {
		return "", nil
	}
	return hex.EncodeToString(note[16 : 16+n]), nil
}
