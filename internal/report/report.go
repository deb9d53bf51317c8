// Package report shows a diagnosis: as terminal text, one finding in full, one
// line a finding, JSON, CSV and Markdown. It computes nothing that is not in
// the diagnosis, and it trusts no name in it: profiles come from anywhere, so
// whatever reaches a terminal, a spreadsheet or a web page is made harmless
// first. Nothing in it keeps state; all functions may be called concurrently.
package report
