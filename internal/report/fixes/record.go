package fixes

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// Record writes a line of JSON for each attempt that was kept: what was predicted, and what was measured.
func Record(w io.Writer, f *fix.Fixes, m schema.Meta, now time.Time) error {
	for _, a := range f.Attempts {
		if a.Outcome != fix.Kept {
			continue
		}
		s := a.Predicted
		line, err := json.Marshal(schema.FixRecord{Schema: schema.FixRecordVersion, Tool: m.Tool, Date: now.UTC().Truncate(time.Second),
			Module: f.Module, File: rel(f.Module, a.Edit.File), Line: a.Edit.Line, Code: a.Edit.Code, Kind: a.Edit.Kind, Benchmark: a.Bench.Name,
			Predicted: schema.FixRange{Allocs: s.ObjectsPerOp.Value, AllocsLow: s.ObjectsPerOp.Low, AllocsHigh: s.ObjectsPerOp.High,
				Bytes: s.BytesPerOp.Value, BytesLow: s.BytesPerOp.Low, BytesHigh: s.BytesPerOp.High},
			Measured: schema.FixAmounts{Allocs: a.Before.Allocs - a.After.Allocs, Bytes: a.Before.Bytes - a.After.Bytes}})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func rel(module, name string) string {
	if r, err := filepath.Rel(module, name); err == nil && !strings.HasPrefix(r, "..") {
		return filepath.ToSlash(r)
	}
	return filepath.ToSlash(name)
}

// Message is what a commit of a remedy says: the package and what was done, then the figures.
func Message(f *fix.Fixes, r fix.Remedy) (subject, body string) {
	name := path.Base(path.Dir(rel(f.Module, r.Edit.File)))
	if name == "." {
		name = strings.TrimSuffix(path.Base(r.Edit.File), ".go")
	}
	subject = name + ": " + strings.ReplaceAll(r.Edit.Text, "`", "")
	const most = 90
	if runes := []rune(subject); len(runes) > most {
		subject = string(runes[:most-1]) + "…"
	}
	body = fmt.Sprintf("%s: %s allocs/op, %s B/op.", r.Bench.Name, change(r.Attempt.Before.Allocs, r.Attempt.After.Allocs), change(r.Attempt.Before.Bytes, r.Attempt.After.Bytes))
	if c := f.Confirmation; c != nil {
		body += "\n\n" + confirmed(f)
	}
	return subject, body
}
