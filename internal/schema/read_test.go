package schema_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/schema"
)

func TestRead(t *testing.T) {
	const doc = `{"schema":"heaptrim.prove/1","verdict":{"outcome":"better","sentence":"B is better"},` +
		`"comparisons":[{"changes":[{"unit":"ns/op","change":{"value":-0.1,"low":null,"high":null}}]}]}`
	p, err := schema.Read[schema.Prove]([]byte(doc), schema.ProveVersion)
	if err != nil || p.Verdict.Sentence != "B is better" || p.Comparisons[0].Changes[0].Change.Low != nil {
		t.Errorf("read as %+v, %v", p, err)
	}
	for _, bad := range []string{`{"schema":"heaptrim.report/1"}`, `{"schema":"heaptrim.prove/1","comparisons":3}`,
		`[]`, `{`, ``, `null`} {
		if p, err := schema.Read[schema.Prove]([]byte(bad), schema.ProveVersion); err == nil {
			t.Errorf("%q was read as %+v", bad, p)
		}
	}
}
