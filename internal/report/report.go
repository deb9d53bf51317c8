// Package report shows a diagnosis: as terminal text, one finding in full, one line a
// finding, JSON, CSV and Markdown. It computes nothing that is not in the diagnosis. Names
// in profiles can be hostile, so all text is made harmless before it reaches a terminal, a
// spreadsheet or a web page. Nothing in it keeps state; all functions may be called
// concurrently.
package report
