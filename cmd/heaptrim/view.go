package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/disasm"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/report"
	"github.com/heaptrim/heaptrim/internal/report/trace"
	"github.com/heaptrim/heaptrim/internal/report/tuning"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/web"
	"github.com/heaptrim/heaptrim/internal/web/serve"
)

const viewUsage = `
Usage: heaptrim view [flags] bundle
       heaptrim view [flags] files...

Serves the page of a recording on the loopback interface until interrupted: the
page that check writes as heaptrim.html, with the whole call tree instead of its
heaviest calls, and with source and machine code of every function that has
samples. /report.json is the report, and /bundle/ has the files of the
recording, for go tool pprof and similar tools. It only reads, and answers only
this computer. When the recording changes, the page says so and offers the new
one.

With -base it compares with an older recording, and with -proof it shows the
results of heaptrim prove beside the predictions.

Examples:
  heaptrim view gateway.tar.zst
  heaptrim view -base before.tar.zst after.tar.zst
  heaptrim view -html page.html cpu.pprof allocs.pprof
  heaptrim view -proof proof.json -html page.html after.tar.zst
  heaptrim view -binary ./gateway.test -html page.html cpu.pprof
`

// viewFlags are the flags of view.
type viewFlags struct {
	target targetFlags
	shown  reportFlags
	addr   string
	base   string
	proof  string
	tuned  string
	html   string
	binary string
	nodes  int
}

// servedNodes bounds the call tree of a served page: more than the file's, and
// as many as a browser draws smoothly.
const servedNodes = 200_000

// Bytes of source text and of machine code that a served page has from the
// start; it asks for the rest.
const (
	servedSource = 4 << 20
	servedCode   = 1 << 20
)

func runView(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f viewFlags
	fs.StringVar(&f.addr, "addr", "127.0.0.1:0", "loopback `address` to serve on; port 0 takes a free one")
	fs.StringVar(&f.base, "base", "", "`bundle` to compare with")
	fs.StringVar(&f.proof, "proof", "", "show the comparison in `file`, written by heaptrim prove -json")
	fs.StringVar(&f.tuned, "tune", "", "show the plan in `file`, written by heaptrim tune -json, with its trials; "+
		"default: a plan from the recording")
	fs.StringVar(&f.html, "html", "", "write the page to `file` and do not serve it")
	fs.StringVar(&f.binary, "binary", "",
		"read machine code from the recorded program in `file`; default: the recording, then the program in its old "+
			"place, if unchanged")
	fs.IntVar(&f.nodes, "nodes", 0, "`calls` of the flame graph, the heaviest; default: 200000 when serving, 24000 "+
		"in a file")
	f.shown.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	kind, err := f.target.kind(fs.Args())
	if err != nil {
		return err
	}
	if kind != evidence.TargetFiles || fs.NArg() == 0 {
		return usagef("give a bundle or recorded files")
	}
	if f.nodes < 0 {
		return usagef("-nodes cannot be negative")
	}
	if err := f.shown.validate(); err != nil {
		return err
	}
	return f.view(ctx, fs.Args(), std)
}

func (f *viewFlags) view(ctx context.Context, args []string, std stdio) error {
	p := newProgress(std.err)
	defer p.Close()
	if f.html == "" {
		return serve.Run(ctx, serve.Options{Address: f.addr, Files: append([]string{f.base, f.proof, f.tuned, f.binary}, args...),
			Page:  func(ctx context.Context) (web.ServerOptions, func(), error) { return f.page(ctx, args, p) },
			Ready: func(url string) { p.Close(); fmt.Fprintln(std.out, url) },
			Warn: func(problem error) {
				fmt.Fprintf(std.err, "heaptrim view: the recording has changed and cannot be shown: %v\n", problem)
			}})
	}
	page, done, err := f.page(ctx, args, p)
	if err != nil {
		return err
	}
	defer done()
	p.Close()
	return writeFile(f.html, func(w io.Writer) error { return web.Page(w, page.Title, page.Data) })
}

// page builds what the arguments name. What it shows of the recording's own
// files is there until done is called.
func (f *viewFlags) page(ctx context.Context, args []string, p *progress) (page web.ServerOptions, done func(),
	err error) {
	shown, err := f.open(ctx, args, p)
	if err != nil {
		return page, nil, err
	}
	defer func() {
		if err != nil {
			shown.Close()
		}
	}()
	o := web.Options{Source: check.Source(shown.Diagnosis), Code: disasm.Reader(ctx, shown.recorded.Bundle, f.binary)}
	if o.MaxNodes = f.nodes; f.nodes == 0 && f.html == "" {
		o.MaxNodes = servedNodes
	}
	if f.html == "" {
		o.Parts, o.MaxSource, o.MaxCode = shown.PartNames(), servedSource, servedCode
		o.Version = fmt.Sprint(time.Now().UnixNano())
	}
	if f.base != "" {
		base, err := f.open(ctx, []string{f.base}, p)
		if err != nil {
			return page, nil, fmt.Errorf("recording to compare with: %w", err)
		}
		defer base.Close()
		o.Base = base.Session
		o.BaseReport, o.BasePlan = base.document(), base.plan()
	}
	if f.proof != "" {
		if o.Proof, err = schema.ReadFile[schema.Prove](f.proof, schema.ProveVersion); err != nil {
			return page, nil, fmt.Errorf("read the proof: %w", err)
		}
	}
	if f.tuned != "" {
		if o.Plan, err = schema.ReadFile[schema.Tune](f.tuned, schema.TuneVersion); err != nil {
			return page, nil, fmt.Errorf("read the plan: %w", err)
		}
	}
	p.Printf("building the page")
	if page, err = newPage(ctx, shown, o); err != nil {
		return page, nil, err
	}
	page.Version = o.Version
	parts, closeParts, err := shown.Parts()
	if err != nil {
		return page, nil, err
	}
	page.Parts = parts
	return page, func() {
		closeParts()
		shown.Close()
	}, nil
}

// open opens and diagnoses what the arguments name.
func (f *viewFlags) open(ctx context.Context, args []string, p *progress) (*viewed, error) {
	r, err := f.target.record(ctx, args, p)
	if err != nil {
		return nil, err
	}
	v, err := f.shown.report(ctx, r, f.target.dir, p)
	if err != nil {
		r.Close()
		return nil, err
	}
	return v, nil
}

// meta is what the documents on a recording say of themselves.
func (v *viewed) meta() schema.Meta {
	return schema.Meta{Tool: version(), Created: v.Manifest.Created}
}

// newPage builds the page's data and names the files that may be read.
func newPage(ctx context.Context, v *viewed, o web.Options) (web.ServerOptions, error) {
	o.Report = v.document()
	if o.Plan == nil {
		o.Plan = v.plan()
	}
	if v.Trace != nil {
		o.Trace = trace.Document(v.Trace)
	}
	o.Rows = v.Prescription.Rows
	data, rest, err := web.Data(v.Session, o)
	if err != nil {
		return web.ServerOptions{}, err
	}
	var text bytes.Buffer
	if err := schema.Write(&text, o.Report); err != nil {
		return web.ServerOptions{}, err
	}
	s := web.ServerOptions{Title: check.Title(v.Diagnosis), Data: data, Report: text.Bytes(), Rest: rest}
	s.Listed = v.PartNames()
	return s, nil
}

// document is the JSON report of what is viewed.
func (v *viewed) document() *schema.Report { return report.Document(&v.Report.Report, v.meta()) }

// plan is the forecast of settings of the collector; nil without one.
func (v *viewed) plan() *schema.Tune {
	if v.Plan == nil {
		return nil
	}
	return tuning.Document(v.Plan, nil, v.meta())
}
