package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// NewInterval returns i, or nil where it is not finite or is a zero that
// nothing measured.
func NewInterval(i stats.Interval, zeroKnown bool) *Interval {
	if !Finite(i.Value) || !Finite(i.Low) || !Finite(i.High) || (i == stats.Interval{}) && !zeroKnown {
		return nil
	}
	return &Interval{i.Value, i.Low, i.High}
}

// Known returns the value; nil of a nil interval.
func (i *Interval) Known() *float64 {
	if i == nil {
		return nil
	}
	v := i.Value
	return &v
}

// Number returns v, or nil where it is not finite or is a zero that nothing
// measured.
func Number(v float64, zeroKnown bool) *float64 {
	if !Finite(v) || v == 0 && !zeroKnown {
		return nil
	}
	return &v
}

// Positive is a quantity whose zero means that it is not known.
func Positive(v float64) *float64 { return Number(v, false) }

// List returns s, never nil.
func List(s []string) []string { return append([]string{}, s...) }

// Finite reports whether JSON can hold v.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Rows converts rows; no rows are [] in JSON, not null.
func Rows[T, R any](from []T, row func(T) R) []R {
	rows := make([]R, 0, len(from))
	for _, f := range from {
		rows = append(rows, row(f))
	}
	return rows
}

// Meta is what a document says of its making. The zero value leaves it out.
type Meta struct {
	Tool    string    // heaptrim's version
	Created time.Time // when the recording was made
}

// Read reads a document of one version, such as [TuneVersion].
func Read[D any](doc []byte, version string) (*D, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(doc, &head); err != nil {
		return nil, err
	}
	if head.Schema != version {
		return nil, fmt.Errorf("its schema is %q, want %s", head.Schema, version)
	}
	var d D
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// ReadFile reads a document from a file.
func ReadFile[D any](file, version string) (*D, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := Read[D](text, version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return doc, nil
}
