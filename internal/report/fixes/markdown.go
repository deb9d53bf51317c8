package fixes

import (
	"bufio"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/report/md"
)

// Markdown writes what was tried for a comment on a change: a table of all attempts, the proof, and the
// diff.
func Markdown(w io.Writer, f *fix.Fixes, applied bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "**%s**\n", md.Text(headline(f, applied)))
	if f.Confirmation != nil && f.Tried(fix.Kept) > 0 {
		fmt.Fprintf(b, "\n%s\n", md.Text(confirmed(f)))
	}
	if len(f.Attempts) > 0 {
		b.WriteString("\n| cure | place | edit | predicted | allocs/op | B/op | |\n|---|---|---|--:|--:|--:|---|\n")
	}
	for _, a := range f.Attempts {
		allocs, bytes := "", ""
		if a.Before.Allocs > 0 || a.Before.Bytes > 0 {
			allocs, bytes = change(a.Before.Allocs, a.After.Allocs), change(a.Before.Bytes, a.After.Bytes)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", md.Code(a.Edit.Code), md.Code(a.At(f.Module)), md.Prose(a.Edit.Text),
			md.Text(saving(a.Predicted.ObjectsPerOp)), md.Text(allocs), md.Text(bytes), md.Text(Reason(a)))
	}
	if f.Confirmation != nil && f.Proof != nil {
		b.WriteString("\n| benchmark | metric | before | after | change |\n|---|---|--:|--:|--:|\n")
		proved(f.Proof, func(r proofRow) {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", md.Code(r.Name), md.Text(r.Unit), r.Before, r.After, md.Text(r.Change))
		})
	}
	if text := string(Diff(f)); text != "" {
		fmt.Fprintf(b, "\n<details><summary>Diff</summary>\n\n%s\n</details>\n", md.Block("diff", text))
	}
	return b.Flush()
}

// proofRow is a metric of a benchmark before and after all kept edits.
type proofRow struct{ Name, Unit, Before, After, Change string }

// proved visits the metrics that were judged.
func proved(r *prove.Result, visit func(proofRow)) {
	for _, c := range r.Comparisons {
		for _, ch := range c.Changes {
			if !ch.Judged {
				continue
			}
			change := string(ch.Outcome)
			if ch.Outcome == prove.Better || ch.Outcome == prove.Worse {
				change = fmt.Sprintf("%+.1f %%", 100*ch.Delta.Value)
			}
			visit(proofRow{c.Name, ch.Unit, mean(ch.A.Value), mean(ch.B.Value), change})
		}
	}
}
