// Package rewrite makes the edits that cures ask for. It judges from source and types
// whether an edit keeps what the program does, and says what it could not prove; whether an
// edit pays is for a trial to find out.
package rewrite

import (
	"context"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/rewrite/again"
	"github.com/heaptrim/heaptrim/internal/rewrite/branch"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/rewrite/copies"
	"github.com/heaptrim/heaptrim/internal/rewrite/gather"
	"github.com/heaptrim/heaptrim/internal/rewrite/idiom"
	"github.com/heaptrim/heaptrim/internal/rewrite/key"
	"github.com/heaptrim/heaptrim/internal/rewrite/memory"
	"github.com/heaptrim/heaptrim/internal/rewrite/once"
	"github.com/heaptrim/heaptrim/internal/rewrite/owner"
	"github.com/heaptrim/heaptrim/internal/rewrite/parts"
	"github.com/heaptrim/heaptrim/internal/rewrite/putback"
	"github.com/heaptrim/heaptrim/internal/rewrite/sum"
	"github.com/heaptrim/heaptrim/internal/rewrite/text"
	"github.com/heaptrim/heaptrim/internal/rewrite/value"
	"github.com/heaptrim/heaptrim/internal/rewrite/view"
	"github.com/heaptrim/heaptrim/internal/sourcefile"
)

// Request says which code to read.
type Request struct {
	Dir        string   // where the go command runs
	Packages   []string // import paths
	BuildFlags []string
}

// Program is source that was read. It is safe for concurrent use.
type Program struct {
	dir   string // of the module
	fset  *token.FileSet
	files map[string][]*code.File // by base name
	names *code.Names
}

// Load reads the packages, without their tests. Packages that do not compile, and files that are
// generated or use cgo, are left out; an error means that the go command could not be asked.
func Load(ctx context.Context, r Request) (*Program, error) {
	p := &Program{dir: r.Dir, fset: token.NewFileSet(), files: map[string][]*code.File{}, names: code.NewNames()}
	if len(r.Packages) == 0 {
		return p, nil
	}
	loaded, err := packages.Load(&packages.Config{Context: ctx, Dir: r.Dir, Fset: p.fset, BuildFlags: r.BuildFlags,
		Mode: packages.LoadSyntax | packages.NeedModule}, r.Packages...)
	if err != nil {
		return nil, fmt.Errorf("load the packages to edit: %w", err)
	}
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 || pkg.IllTyped || pkg.Types == nil {
			continue
		}
		for _, f := range code.OpenPackage(pkg, p.names) {
			base := filepath.Base(f.Name)
			p.files[base] = append(p.files[base], f)
		}
	}
	return p, nil
}

// find is the file that a report names; nil for one that was not read.
func (p *Program) find(name string) *code.File {
	f, _ := sourcefile.Find(p.files[filepath.Base(name)], func(f *code.File) string { return f.Name }, p.dir, name)
	return f
}

// kind is a kind of edit.
type kind struct {
	name string
	code string // of the cure
	find func(s *code.Site) []code.Edit
}

// kinds in the order in which they are tried.
func kinds() []kind { return append(ofMaking(), ofMemory()...) }

// ofMaking are kinds that do without what a line makes, or make it elsewhere.
func ofMaking() []kind {
	return []kind{
		{"compiled once", "cache-compiled", once.CompiledOnce},
		{"compiled once for each text", "cache-compiled", once.CompiledByText},
		{"result made once", "cache-compiled", once.CallOnce},
		{"kept by its type", "cache-compiled", once.KeptByType},
		{"table made once", "cache-compiled", once.TableOnce},
		{"handed from a variable", "cache-compiled", once.HandedOnce},
		{"fmt to strconv", "avoid-conversion", text.FmtToStrconv},
		{"text in an array", "avoid-conversion", text.FormatInArray},
		{"text in an array", "avoid-conversion", sum.InArray},
		{"text in an array", "avoid-conversion", sum.AskedInArray},
		{"written without fmt", "avoid-conversion", text.WriteText},
		{"error without fmt", "avoid-conversion", text.ErrorText},
		{"computed before the loop", "avoid-conversion", branch.BeforeLoop},
		{"string instead of bytes", "avoid-conversion", text.WriteString},
		{"memory of a text", "avoid-conversion", text.WriteView},
		{"bytes to a Builder", "avoid-conversion", view.CollectBytes},
		{"bytes seen as a text", "avoid-conversion", view.BytesAsText},
		{"parts one by one", "avoid-conversion", parts.SplitSeq},
		{"parts cut in a loop", "avoid-conversion", parts.CutLoop},
		{"cut instead of split", "avoid-conversion", parts.SplitCut},
		{"two parts by Cut", "avoid-conversion", parts.CutParts},
		{"last part by its place", "avoid-conversion", parts.LastPart},
		{"compare without a copy", "avoid-conversion", text.EqualFold},
		{"no conversion and back", "avoid-conversion", copies.NoRoundTrip},
		{"original instead of a copy", "skip-work", copies.NoCopy},
		{"text as it was", "skip-work", branch.AsItWas},
		{"appended in place", "reuse-buffer", copies.AppendInPlace},
		{"insert in place", "reuse-buffer", gather.InsertInPlace},
		{"one replacer", "avoid-conversion", idiom.OneReplacer},
		{"bytes instead of string", "avoid-conversion", idiom.WriteBytes},
		{"asked by type", "keep-on-stack", idiom.AskAsType},
		{"result kept", "skip-work", idiom.KeepResult},
		{"handed on as it is", "skip-work", idiom.HandOn},
		{"text appended", "avoid-conversion", text.AppendText},
		{"format into the writer", "avoid-conversion", text.FormatInto},
		{"range over the string", "avoid-conversion", text.RangeString},
		{"count instead of split", "avoid-conversion", parts.CountParts},
		{"bytes asked as bytes", "avoid-conversion", text.AskBytes},
		{"text asked as text", "avoid-conversion", text.AskString},
		{"matches of a text", "avoid-conversion", text.AskMatches},
		{"taken as a text", "avoid-conversion", text.TakeText},
		{"in one case on the stack", "avoid-conversion", key.InOneCase},
		{"header as it is kept", "avoid-conversion", key.CanonicalName},
		{"number without reflection", "unbox-interface", text.WriteNumber},
		{"number from bytes", "unbox-interface", text.ReadNumber},
		{"encoded on the stack", "keep-on-stack", text.EncodeOnStack},
		{"encoded at once", "avoid-conversion", text.EncodeAtOnce},
		{"summed up at once", "skip-work", text.SumAtOnce},
		{"decoded in place", "skip-work", text.Unmarshal},
		{"stream without a wrapper", "skip-work", text.OneStream},
		{"string as it is", "avoid-conversion", text.StringAsIs},
		{"values compared", "avoid-conversion", text.CompareValues},
		{"asked whether it is there", "avoid-conversion", parts.AskContained},
		{"appended onto", "reuse-buffer", text.AppendOnto},
		{"String instead of fmt", "avoid-conversion", text.CallString},
		{"type without fmt", "avoid-conversion", text.TypeName},
		{"written one after the other", "avoid-conversion", sum.WriteInTurn},
		{"added at once", "presize-builder", sum.AddAtOnce},
		{"written texts added at once", "presize-builder", sum.Concatenated},
		{"concatenation to Builder", "presize-builder", sum.CollectText},
		{"collected on the stack", "presize-builder", sum.CollectOnStack},
		{"Builder instead of Buffer", "avoid-conversion", memory.BufferToBuilder},
		{"sort without reflection", "unbox-interface", text.SortFunc},
		{"asked before the call", "unbox-interface", branch.AskedBefore},
		{"elements of one type", "unbox-interface", value.OneType},
		{"made where it is needed", "skip-work", branch.MadeLater},
		{"looked up by bytes", "avoid-conversion", branch.LookedUp},
		{"copied where it is kept", "keep-on-stack", branch.CopyWhereKept},
		{"copied where it is kept", "keep-on-stack", branch.CopyArgument},
		{"parts compared", "avoid-conversion", text.CompareParts},
		{"changed in its place", "keep-on-stack", again.InItsPlace},
		{"element itself", "keep-on-stack", again.ElementItself},
		{"array itself", "keep-on-stack", again.SliceItself},
	}
}

// ofMemory are kinds that give what a line makes its size, its place or a second use.
func ofMemory() []kind {
	return []kind{
		{"gathered in bytes", "presize-builder", owner.GatheredBytes},
		{"emptied instead of dropped", "reuse-buffer", owner.EmptyInstead},
		{"made once for its owner", "reuse-buffer", owner.MadeOnce},
		{"filtered in place", "reuse-buffer", again.FilterInPlace},
		{"array put back", "reuse-buffer", again.PutBack},
		{"grown memory kept", "reuse-buffer", again.KeepGrown},
		{"handed to be set anew", "reuse-buffer", again.HandBack},
		{"reset in each turn", "reuse-buffer", again.ResetInTurn},
		{"number from a stream", "reuse-buffer", owner.ReadStream},
		{"written from one slice", "reuse-buffer", sum.WrittenFromOne},
		{"Buffer instead of Builder", "reuse-buffer", memory.BuilderToBuffer},
		{"slice with its size", "presize-slice", memory.PresizeSlice},
		{"slice with its size", "presize-slice", memory.JoinedOnce},
		{"field with its size", "presize-slice", owner.FieldRoom},
		{"gathered with its size", "presize-slice", gather.WithSize},
		{"copy with room", "presize-slice", idiom.CopyWithRoom},
		{"made with room", "presize-slice", idiom.RoomAtOnce},
		{"number in its place", "reuse-buffer", idiom.NumberInPlace},
		{"appended and turned round", "presize-slice", memory.AppendAndReverse},
		{"keys one by one", "skip-work", branch.KeysOneByOne},
		{"map walked itself", "skip-work", branch.WalkMap},
		{"map with its size", "presize-map", memory.PresizeMap},
		{"builder with its size", "presize-builder", memory.PresizeBuilder},
		{"builder with twice the size", "presize-builder", memory.GrowMore},
		{"array on the stack", "keep-on-stack", memory.StackArray},
		{"array on the stack", "keep-on-stack", memory.StackAppended},
		{"array of the caller", "reuse-buffer", memory.CallersArray},
		{"parts on the stack", "keep-on-stack", memory.StackParts},
		{"copy on the stack", "keep-on-stack", memory.StackCopy},
		{"array in its branches", "keep-on-stack", branch.ArrayLater},
		{"buffer on the stack", "keep-on-stack", memory.StackBuffer},
		{"returned by value", "keep-on-stack", value.Return},
		{"filled for its caller", "keep-on-stack", value.FillForCaller},
		{"made before the loop", "reuse-buffer", memory.BeforeLoop},
		{"arguments in one slice", "reuse-buffer", branch.ArgumentsInOne},
		{"kept by the receiver", "reuse-buffer", owner.ScratchField},
		{"held by value", "batch-arena", owner.HoldValue},
		{"objects in one slice", "batch-arena", memory.Slab},
		{"objects in one slice", "batch-arena", memory.SlabVariable},
		{"objects in slices of several", "batch-arena", memory.Chunks},
		{"objects in slices of several", "batch-arena", owner.Slab},
		{"slices from one array", "batch-arena", memory.Rows},
		{"put back into its pool", "pool-misuse", putback.PutBack},
		{"slice put by a pointer", "pool-misuse", owner.PoolHeaders},
		{"slice from a pool", "pool-buffer", memory.PoolSlice},
		{"value from a pool", "pool-object", memory.PoolStruct},
		{"buffer from a pool", "pool-buffer", memory.PoolBuffer},
		{"read to a pooled buffer", "pool-buffer", memory.PoolRead},
		{"writer from a pool", "pool-object", memory.PoolWriter},
	}
}

// ofCalls are the kinds that change how a function is called, so that the function itself allocates less.
func ofCalls() []kind {
	names := []string{"values compared", "appended onto", "result made once", "appended in place", "put back into its pool", "slice with its size", "array of the caller",
		"grown memory kept", "handed to be set anew", "reset in each turn", "array itself"}
	return slices.DeleteFunc(kinds(), func(k kind) bool { return !slices.Contains(names, k.name) })
}

// unproven are the kinds of which no edit was kept on a module of others yet: lab/fixes. Their edits are for a reader to
// agree to, whatever the source proves.
var unproven = []string{"one replacer", "bytes instead of string", "asked by type", "result kept", "copy with room", "number in its place", "made with room", "held by value", "handed on as it is", "elements of one type", "number from a stream", "taken as a text",
	"map walked itself", "bytes to a Builder", "bytes seen as a text", "arguments in one slice", "written texts added at once",
	"parts compared", "changed in its place", "filtered in place", "array put back", "grown memory kept", "handed to be set anew", "element itself"}

// At lists the edits for what a line allocates; those of one kind are alternatives, the best
// first.
func (p *Program) At(place code.Place) []code.Edit { return p.at(place, kinds()) }

// Through lists the edits for a line that calls a function which allocates.
func (p *Program) Through(place code.Place) []code.Edit { return p.at(place, ofCalls()) }

func (p *Program) at(place code.Place, all []kind) []code.Edit {
	f := p.find(place.File)
	if f == nil {
		return nil
	}
	var out []code.Edit
	f.Root.Inspect(nil, func(c inspector.Cursor) bool {
		n := c.Node()
		if f.Line(n.Pos()) > place.Line || f.Line(n.End()) < place.Line {
			return false // nor is what is in it
		}
		if f.Line(n.Pos()) != place.Line && !code.CallOpensOn(f, n, place.Line) || f.Suppressed(place.Line) {
			return true
		}
		s := &code.Site{File: f, Cur: c, Place: place}
		for _, k := range all {
			for _, e := range k.find(s) {
				e.Code, e.Kind, e.File, e.Package, e.Line = k.code, k.name, f.Name, f.Pkg.PkgPath, place.Line
				if e.Open == "" && slices.Contains(unproven, k.name) {
					e.Open = "edits of this kind are young: none was kept on a module of others yet"
				}
				if !f.Hides(n.Pos(), e) && !s.Jumps(e.Changes) && !slices.ContainsFunc(out, e.Same) {
					out = append(out, e)
				}
			}
		}
		return true
	})
	return out
}
