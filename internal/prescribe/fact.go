package prescribe

import (
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
	"github.com/heaptrim/heaptrim/internal/prescribe/written"
)

// fact is a question about one part of an object. Unknown is never permission: a rule needs a yes,
// and what rules it out needs a no.
type fact struct {
	name  string
	ask   func(c *candidate, p *allocated) finding.Tri
	gives []string // words in braces that a text may use where the answer is yes
}

// test makes a fact of a question that always has an answer.
func test(name string, ask func(c *candidate, p *allocated) bool, gives ...string) fact {
	return fact{name, func(c *candidate, p *allocated) finding.Tri { return tri(ask(c, p)) }, gives}
}

// onLine makes a fact of a question about an expression and its line.
func onLine(name string, ask func(*source.Line, *source.Expr) bool, gives ...string) fact {
	return test(name, func(_ *candidate, p *allocated) bool { return p.Expr != nil && ask(p.Line, p.Expr) }, gives...)
}

func tri(ok bool) finding.Tri {
	if ok {
		return finding.Yes
	}
	return finding.No
}

// is asks for the kind of allocation.
func is(kinds ...finding.Kind) fact {
	return test("its kind", func(_ *candidate, p *allocated) bool { return slices.Contains(kinds, p.Kind) })
}

// call asks for a call whose entry in the table of library calls names a cure.
func call(code string) fact {
	return test("a better call", func(_ *candidate, p *allocated) bool { return p.listed(code) }, "callee", "better")
}

// Sizes that decide between the ways to treat memory.
const (
	// A value up to here is cheap to copy: beyond, returning it by value costs more than the pointer saves.
	largeObject = 512
	// A pool's Get and Put cost as much as malloc of an object about this size
	// without pointers (lab/libraries/pool: 9 to 13 ns).
	tinyObject = 64
	// From here on zeroing and marking alone justify a pool.
	bigObject = 4 << 10
	// Below this a pool's Get and Put cost about as much as malloc and the object's share of the
	// collector (lab/libraries/pool).
	leastPooled = 1 << 10
)

// Facts about amounts.
var (
	small     = test("small", func(c *candidate, _ *allocated) bool { return c.blockSize() <= largeObject })
	few       = test("16 texts at most", func(c *candidate, _ *allocated) bool { return c.blockSize() <= 16*16 })
	big       = test("big", func(c *candidate, _ *allocated) bool { return c.blockSize() >= bigObject }, "size")
	tiny      = test("tiny", func(c *candidate, _ *allocated) bool { return c.blockSize() < tinyObject })
	plainTiny = test("tiny, without pointers", func(c *candidate, _ *allocated) bool {
		return c.blockSize() < tinyObject && c.Finding.Allocation.Pointers == finding.No
	})
	// several is what an operation makes more than once, or may.
	several = test("more than one an operation", func(c *candidate, p *allocated) bool {
		return c.Finding.Cost.ObjectsPerOp.Value <= 0 || c.perOp(p) > 1.5
	})
	many = fact{"many an operation", func(c *candidate, p *allocated) finding.Tri {
		if c.Finding.Cost.ObjectsPerOp.Value <= 0 {
			return finding.Unknown
		}
		return tri(c.perOp(p) >= manyObjects)
	}, []string{"arena"}}
	shortBlocks = test("short", func(c *candidate, _ *allocated) bool { return c.blockSize() < leastPooled })
	outgrown    = fact{"outgrown", func(c *candidate, _ *allocated) finding.Tri {
		if len(c.Finding.Allocation.Sizes) == 0 {
			return finding.Unknown
		}
		objects, _ := c.grown().Waste()
		return tri(objects > leastOutgrown)
	}, []string{"here", "nil"}}
	// regrown is growth in which most slices outgrow their first array.
	regrown = test("mostly outgrown", func(c *candidate, _ *allocated) bool {
		objects, _ := c.grown().Waste()
		return objects >= fewOutgrown
	})
	alike = test("of about one size", func(c *candidate, _ *allocated) bool { return regrowth.Alike(c.Finding.Allocation.Sizes) })
	// modest is a slice whose last arrays are a page at most: the code does not show that others get so large.
	modest = test("of a page at most", func(c *candidate, p *allocated) bool {
		sizes := c.Finding.Allocation.Sizes // how many elements that is must be known
		return len(sizes) > 0 && regrowth.Last(sizes) <= bigObject && p.Expr != nil && regrowth.Reached(sizes, p.Expr.Elem) != ""
	})
	single = test("rarely outgrown", func(c *candidate, _ *allocated) bool {
		objects, _ := c.grown().Waste()
		return len(c.Finding.Allocation.Sizes) > 0 && objects < fewOutgrown
	})
	passing = fact{"not kept for long", func(c *candidate, _ *allocated) finding.Tri {
		return tri(c.short())
	}, nil}
	lasting = fact{"kept for long", func(c *candidate, _ *allocated) finding.Tri {
		if c.Finding.Lifetime.Class == finding.LifetimeUnknown || c.Finding.Lifetime.Class == "" {
			return finding.Unknown
		}
		return tri(!c.short())
	}, nil}
)

// manyObjects is the number of objects in an operation from which one block for all pays.
const manyObjects = 8

// fewOutgrown is the part of the blocks that are outgrown up to which most slices stay with their first array: of three
// blocks, one was outgrown where one slice of two has two arrays.
const fewOutgrown = 1.0 / 3

// leastOutgrown is the part of the blocks that are outgrown from which a first size pays.
const leastOutgrown = 0.02

// Facts about the expression that allocates.
var (
	seen    = test("its expression", func(_ *candidate, p *allocated) bool { return p.Expr != nil }, "expr", "form")
	own     = test("no call", func(_ *candidate, p *allocated) bool { return p.Via == "" && p.Callee == "" })
	inline  = test("no library", func(_ *candidate, p *allocated) bool { return p.Via == "" })
	called  = test("a call", func(_ *candidate, p *allocated) bool { return p.callee() != "" }, "callee")
	inLoop  = test("in a loop", func(_ *candidate, p *allocated) bool { return p.Expr != nil && len(p.Expr.Loops) > 0 }, "loop")
	nested  = test("recursive", func(c *candidate, _ *allocated) bool { return c.recursive() })
	consts  = test("of constants", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Expr.Call.Consts })
	varying = onLine("of a size that varies", func(_ *source.Line, e *source.Expr) bool {
		return e.Kind == source.Make && e.Elem > 0 && !e.Call.Consts
	})
	tabled = test("a table of constants", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.Expr.Kind == source.Literal && p.Expr.Call.Consts && (p.Expr.Elem > 0 || strings.Contains(p.Expr.Type, "map[")) && !p.place().Overwritten()
	})
	copied = test("a copy", func(c *candidate, p *allocated) bool {
		return p.Expr != nil && p.Kind != finding.KindConversion && p.Line.Copied(p.Expr) != "" && (!p.place().Snapshot() || way.Unwritten(c.source, p.of.Site, p.place(), diesHere.ask(c, p) == finding.Yes))
	}, "original")
	onlyRead = fact{"only read", func(_ *candidate, p *allocated) finding.Tri { return p.Life.OnlyRead }, nil}
	spliced  = onLine("the tail of what it is put into", func(l *source.Line, e *source.Expr) bool { return l.Spliced(e) != "" }, "spliced")
	lone     = test("with one argument", func(_ *candidate, p *allocated) bool {
		return (p.Callee == "io.MultiReader" || p.Callee == "io.MultiWriter") && p.Expr != nil && len(p.Expr.Call.Args) == 1
	}, "callee")
	asText = test("compared as text", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.Expr.Kind == source.Call && p.Expr.Use.Kind == source.UseCompared && strings.HasSuffix(p.Callee, ".String") && p.place().BothAsText()
	}, "callee")
	hasArgs = test("of arguments", func(_ *candidate, p *allocated) bool { return p.Expr != nil && len(p.Expr.Call.Args) > 0 })
	// ours is a call of a function that the user can change.
	ours = test("a call of the module's own", func(c *candidate, p *allocated) bool {
		return p.Callee != "" && c.session != nil && c.yours(evidence.Frame{Function: p.Callee})
	})
	// boxless is a call whose last arguments go into a slice of their own type.
	boxless = test("arguments of their own type", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindVariadic && p.Expr != nil && p.Expr.Call.Unboxed
	})
	anys           = test("of arguments without methods", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Expr.Call.Anys })
	returnedByCall = test("returned by the call", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Back })
	// The compiler builds []byte(a + b) in one allocation.
	insideBytes = onLine("converted to bytes at once", (*source.Line).Converted)
	appended    = onLine("added to by way of a string", (*source.Line).Appended)
	back        = onLine("converted back", (*source.Line).Back)
	aText       = onLine("a text", func(_ *source.Line, e *source.Expr) bool { return e.Type == "string" })
	promised    = test("without another form", func(c *candidate, p *allocated) bool {
		return p.Expr != nil && p.Line.Given(p.Expr) && !flow.AsText(c.source.Functions(), way.Function(c.source, p.of.Site), p.Expr.Node())
	})
	toWriter   = onLine("written to a writer of strings", func(l *source.Line, e *source.Expr) bool { return l.Writer(e) != "" }, "writer")
	reflecting = test("reflection", func(_ *candidate, p *allocated) bool {
		return strings.HasPrefix(p.Callee, "reflect.") || p.Kind == finding.KindReflect && (p.Via == "" || strings.HasPrefix(p.Via, "reflect."))
	})
	toLocal = onLine("assigned to a variable", func(_ *source.Line, e *source.Expr) bool { return e.Use.Kind == source.UseAssigned && !e.Use.Field }, "use")
	toField = onLine("assigned to a field", func(_ *source.Line, e *source.Expr) bool { return e.Use.Kind == source.UseAssigned && e.Use.Field }, "use")
	looked  = test("only looked at", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.Expr.Use.Little() != "" && !library.Writes(p.Callee)
	}, "looked")
	fronted  = test("put in front of a variable", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Expr.PutsInFront() })
	inARow   = test("added by several statements in a row", func(_ *candidate, p *allocated) bool { return p.Expr != nil && waste.InARow(p.Expr) > 1 }, "row")
	eachTurn = test("new in each turn", func(_ *candidate, p *allocated) bool { return p.Expr != nil && waste.NewEachTurn(p.Expr) })
	added    = test("added to a variable", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Expr.AddsTo() })
	bytesOf  = test("bytes", func(_ *candidate, p *allocated) bool {
		d := p.dest()
		return p.Expr != nil && p.Expr.Elem == 1 || d != nil && (d.Elem == "byte" || d.Elem == "uint8")
	})
	compiled = onLine("compiled of a text", func(_ *source.Line, e *source.Expr) bool { return e.Compiles() }, "callee")
	spelled  = test("a constant text", func(c *candidate, _ *allocated) bool { return c.Line != nil && c.Line.ConvertedConstant() != nil }, "constant")
	wasteful = test("work that is not used", func(c *candidate, p *allocated) bool {
		return c.Line != nil && p.Expr != nil && waste.Text(c.diagnosis, c.Line, p.Expr, c.Finding.Site.File) != ""
	}, "wasted")
	sloppy = test("padded", func(c *candidate, p *allocated) bool { return c.packs(p) > 0 }, "type", "packed", "size")
)

// Facts about library calls.
var (
	ofMap = test("reflection of a map", func(_ *candidate, p *allocated) bool {
		return p.Callee == "reflect.Value.MapKeys" || strings.HasPrefix(p.Callee, "reflect.(*MapIter).")
	})
	walked = test("a map gone through", func(c *candidate, p *allocated) bool {
		return ofMap.ask(c, p) == finding.Yes && p.Expr != nil && waste.EachForgotten(p.Expr)
	})
	listedElse = test("a call that another cure is known for", func(_ *candidate, p *allocated) bool {
		return p.Library != nil && p.Library.Code != cures.UnboxInterface && p.Library.Better != ""
	}, "better")
	plainError = test("an error with a text that varies", func(_ *candidate, p *allocated) bool {
		return p.Callee == "errors.New" && (p.Expr == nil || !p.Expr.Call.Consts)
	})
	// writes is a call that puts text into a buffer of the function.
	writes = test("into a buffer in sight", func(_ *candidate, p *allocated) bool {
		_, method, ok := strings.Cut(p.Callee, ").")
		return ok && method != "Grow" && (strings.HasPrefix(p.Callee, "bytes.(*Buffer)") || strings.HasPrefix(p.Callee, "strings.(*Builder)")) &&
			p.Expr != nil && p.Line.OfLocal(p.Expr)
	})
	writtenOn = test("written to where it goes", func(_ *candidate, p *allocated) bool {
		if p.Expr == nil || p.Expr.Use.Kind != source.UseArgument {
			return false
		}
		callee := p.Expr.Use.Callee
		return callee == "append" || callee == "io.WriteString" || strings.HasPrefix(callee, "fmt.Fprint") ||
			strings.HasSuffix(callee, ".Write") || strings.HasSuffix(callee, ".WriteString")
	})
	anError = test("fmt.Errorf", func(_ *candidate, p *allocated) bool { return p.Callee == "fmt.Errorf" })
	tries   = test("try after try", func(_ *candidate, p *allocated) bool {
		return p.Library != nil && p.Library.Stays == library.Failed && p.Expr != nil && len(p.Expr.Loops) > 0
	})
	madeInSight = test("a builder or buffer made in sight", func(_ *candidate, p *allocated) bool {
		return p.Life.Maker.At.Line > 0 && !strings.HasSuffix(p.Via, ").Grow") &&
			(strings.HasPrefix(p.Via, "bytes.(*Buffer)") || strings.HasPrefix(p.Via, "strings.(*Builder)"))
	}, "owned")
	// released is memory whose last use is in sight, or that a library object makes for itself.
	released = test("last used in sight", func(_ *candidate, p *allocated) bool {
		return p.Life.End == finding.EndFrame || p.ownMemory() || p.Expr != nil && written.OnlyForItself(p.place())
	})
	newInPlace = test("new and not returned", func(c *candidate, p *allocated) bool {
		return p.Kind == finding.KindNew && !fate.Edge(c.Finding, "return")
	})
)

// Facts about how the code uses the value that the line allocates.
var (
	emptied      = test("a builder that is reset", func(_ *candidate, p *allocated) bool { return p.Life.Maker.Emptied })
	grownInSight = test("grown already", func(_ *candidate, p *allocated) bool { return p.Life.Maker.Grown })
	sameEachTime = test("captures what stays the same", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Fixed })
	carried      = test("kept for the next turn", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Carried })
	inScratch    = test("in a field for scratch", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Scratch })
	// refilled is a field that gets something new in each operation, or several times.
	refilled = test("filled again", func(c *candidate, p *allocated) bool { return p.Life.Receiver || c.perOp(p) > 1.5 })
	// writesOut is handed to the Write of an io.Writer of the standard library that has no WriteString.
	writesOut = test("for a Write, which must not keep it", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.Expr.Use.Kind == source.UseArgument && strings.HasSuffix(p.Expr.Use.Callee, ".Write") &&
			slices.Contains([]string{"io", "net", "net/http", "hash", "compress/gzip", "compress/flate", "compress/zlib", "crypto/tls"}, strings.Split(p.Expr.Use.Callee, ".")[0])
	})
	// toOurs is handed to a function that the user can change.
	toOurs = test("for a function of the module's own", func(c *candidate, p *allocated) bool {
		return p.Expr != nil && p.Expr.Use.Kind == source.UseArgument && p.Expr.Use.Callee != "" && c.yours(evidence.Frame{Function: p.Expr.Use.Callee})
	}, "taker")
	unchanging = test("a package variable that nothing sets", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Box.Constant })
	standard   = test("handed to the standard library", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Box.Handed })
	oneType    = test("for a container of one type", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Box.Field != "" }, "container", "boxtype")
	// ofInterface is a method whose parameters all that implement it share.
	ofInterface = test("of an interface's method", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Line.Dynamic(p.Expr) })
	unasked     = test("a result that its caller drops", func(c *candidate, p *allocated) bool { return c.dropper(p) != "" }, "dropper")
	putAsKey    = test("put into a map as a key", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Key.Put.Line > 0 })
	argument    = test("an argument", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Argument })
	spared      = test("for a function that may not need it", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Spared })
	begun       = test("in the function that a goroutine begins with", func(c *candidate, _ *allocated) bool { return way.Begins(c.Finding) })
	// decodesMemory is a json.Decoder, its reader, or the buffer that it reads into.
	decodesMemory = test("a decoder of what is in memory", func(_ *candidate, p *allocated) bool { return p.Life.Maker.Whole })
	// dynamic is an address that the compiler loses sight of in a call.
	dynamic = test("handed to a call that the compiler does not see through", func(c *candidate, _ *allocated) bool {
		return c.Finding.Escape != nil && slices.ContainsFunc(c.Finding.Escape.Flow, func(f evidence.Flow) bool {
			return len(f.Edges) > 0 && f.Edges[len(f.Edges)-1].Why == "call parameter"
		})
	})
	// lookedUp is text that maps are read by. Where a map gets it as a key, that must be seldom.
	lookedUp = test("looked up in a map", func(c *candidate, p *allocated) bool {
		key := c.session.Place(evidence.Frame{File: p.Life.Passed.Key.Put.File, Line: p.Life.Passed.Key.Put.Line})
		return p.Life.Passed.Key.Asked && (key.Line == 0 && p.Life.End == finding.EndFrame ||
			key.Line > 0 && !regrowth.Fills(c.diagnosis, c.Finding, key.File, key.Line))
	})
	// needsString is new text that cannot be bytes. What fmt makes can be put together without it all the same.
	needsString = test("text for what takes no bytes", func(_ *candidate, p *allocated) bool {
		return p.Library.KeepsResult() && p.Life.Passed.Taken && !strings.HasPrefix(p.Callee, "fmt.")
	})
	// partsHanded are parts of a text that functions of the package get as a slice, and only read.
	partsHanded = test("parts that are handed on", func(_ *candidate, p *allocated) bool {
		return p.splits() && p.Life.Passed.Argument && !p.Life.Passed.Listed && p.Life.OnlyRead == finding.Yes
	})
	// readElse is text of a buffer that is more than a builder.
	readElse = test("of a buffer that is read, reset or handed on", func(_ *candidate, p *allocated) bool {
		return p.Callee == "bytes.(*Buffer).String" && !p.Life.Passed.Built
	})
	// partsElse are parts of a text that neither a few cuts nor a sequence would serve.
	partsElse = test("parts that have to be a slice", func(_ *candidate, p *allocated) bool { return p.splits() && p.Life.Passed.Listed })
	// partsKept are parts of a text that a field holds.
	partsKept = test("parts in a field", func(_ *candidate, p *allocated) bool { return p.splits() && p.Expr != nil && p.Expr.Use.Field })
	// foldedElse is text in one case that is not only compared.
	foldedElse = test("in one case, and not only compared", func(_ *candidate, p *allocated) bool {
		_, name, _ := strings.Cut(p.Callee, ".")
		return (name == "ToLower" || name == "ToUpper") && !p.Life.Passed.Compared
	})
)

// Facts about the variable or field that grows.
var (
	// growing is an append, of the code itself or by a call that appends to its first argument.
	// mostFilled is a field that most of its owners fill.
	mostFilled = test("filled by most of its owners", func(c *candidate, p *allocated) bool {
		f := c.ownerMade(p)
		outgrown, _ := c.grown().Waste()
		return f != nil && slices.ContainsFunc(slices.Concat(f.ByRun, []finding.RunCost{{Run: f.Run, Cost: f.Cost}}), func(owners finding.RunCost) bool {
			return owners.Run == c.Finding.Run && 2*c.perOp(p)*(1-outgrown) >= owners.Cost.ObjectsPerOp.Value
		})
	})
	anew    = test("in a field of what each operation makes", func(c *candidate, p *allocated) bool { return c.makesOwner(p) })
	growing = test("an append", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindGrowth && (p.Via == "" && p.Callee == "" || flow.Appends(p.Callee))
	})
	handedIn = test("handed in by a caller", func(_ *candidate, p *allocated) bool { return p.above != nil }, "maker")
	grown    = test("a variable that grows", func(_ *candidate, p *allocated) bool { return p.dest() != nil }, "var")
	empty    = test("begins empty", func(_ *candidate, p *allocated) bool {
		d := p.dest()
		return d != nil && (d.Made == source.MadeEmpty || d.Made == source.MadeLazy || d.Made == source.MadeNil)
	}, "made")
	madeEmpty = test("made without a size", func(_ *candidate, p *allocated) bool {
		return p.dest() != nil && (p.dest().Made == source.MadeEmpty || p.dest().Made == source.MadeLazy)
	}, "made")
	localDest = test("made in the function", func(_ *candidate, p *allocated) bool {
		d := p.dest()
		return d != nil && (d.Local || d.Field && d.MadeLine > 0)
	})
	ownDest = test("a variable of the function", func(_ *candidate, p *allocated) bool {
		d := p.dest()
		return d != nil && !d.Param && !d.Reset && d.Made != source.MadeUnknown && d.Made != source.MadeSized && d.Made != source.MadeElse
	}, "made")
	// onStack is made where nothing is allocated.
	onStack = test("made on the stack", func(c *candidate, p *allocated) bool {
		d := p.dest()
		return d != nil && p.above == nil && d.Local && d.Made == source.MadeSized && d.MadeLine > 0 && !way.Allocates(c.diagnosis, p.of, d.MadeLine)
	}, "made")
	sizedDest = test("made with a size", func(_ *candidate, p *allocated) bool {
		d := p.dest()
		return d != nil && !d.Param && !d.Reset && d.Made == source.MadeSized
	}, "made")
	// elsewhere is what the function does not make anew each time.
	elsewhere = test("comes from elsewhere", func(_ *candidate, p *allocated) bool {
		return p.dest() == nil || p.dest().Made == source.MadeElse || p.dest().Made == source.MadeLazy
	})
	retold    = test("text of the level below", func(c *candidate, p *allocated) bool { return c.recursive() && p.Expr != nil && waste.Retold(p.Expr) }, "result")
	merges    = test("copied from level to level", func(_ *candidate, p *allocated) bool { return p.Line.Merges(p.dest()) }, "result")
	counted   = test("a count in sight", func(_ *candidate, p *allocated) bool { count, _ := p.filled(); return count != "" }, "count")
	exact     = test("one for each turn", func(_ *candidate, p *allocated) bool { _, exact := p.filled(); return exact })
	buffered  = test("a bytes.Buffer", func(_ *candidate, p *allocated) bool { return strings.HasPrefix(p.Callee, "bytes.(*Buffer).") })
	prepends  = onLine("put in front in a loop", func(l *source.Line, e *source.Expr) bool { return len(e.Loops) > 0 && l.Prepends(e) }, "use")
	toNil     = test("appended to nil by a call", func(_ *candidate, p *allocated) bool { return p.Via != "" && p.Line.AppendsToNil(p.Via) })
	handedNil = test("begins as nil in a caller", func(_ *candidate, p *allocated) bool {
		return p.above != nil && p.above.dest.Name == "nil"
	}, "maker")
	keyed     = test("an element of a map", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Line.IntoMap(p.Expr) })
	fieldDest = test("a field", func(_ *candidate, p *allocated) bool { return p.dest() != nil && p.dest().Field })
	receivers = test("of the receiver", func(_ *candidate, p *allocated) bool { return p.dest() != nil && p.dest().Field && p.dest().Receiver })
)

// Facts of the compiler's escape output.
var (
	handedUp = test("returned", func(c *candidate, _ *allocated) bool { return fate.Edge(c.Finding, "return") }, "api")
	onHeap   = test("moved to the heap", func(c *candidate, _ *allocated) bool { return fate.Moved(c.Finding.Escape) })
	tooLarge = test("too large for the stack", func(c *candidate, _ *allocated) bool { return fate.TooLarge(c.Finding) })
	bySize   = test("on the heap for its size alone", func(c *candidate, _ *allocated) bool { return fate.OnlySized(c.Finding) })
	fixed    = test("of a fixed size", func(_ *candidate, p *allocated) bool {
		return p.Kind != finding.KindMake || p.Expr != nil && p.Expr.Call.Consts
	})
	coldOnly = test("escapes on a cold branch", func(c *candidate, _ *allocated) bool { return c.coldEscape() > 0 }, "cold")
	hooked   = test("for a hook that nothing sets", func(_ *candidate, p *allocated) bool { return p.Life.End == finding.EndFrame && p.Life.Ways.Hook != "" }, "hook")
	bodyless = test("handed to a function without a body", func(c *candidate, _ *allocated) bool { _, ok := c.bodyless(); return ok }, "bodyless")
	stored   = test("stored by the compiler's word", func(c *candidate, _ *allocated) bool { return fate.Of(c.Finding) == finding.FateStored })
	retained = test("kept by the compiler's word", func(c *candidate, _ *allocated) bool { return fate.Kept(c.Finding) })
	owned    = test("stored in a field", func(c *candidate, _ *allocated) bool { return fate.Holder(c.Finding) != "" }, "owner")
)

// Facts of the way from where the memory is made to where it is last used.
var (
	diesHere = test("dies where it is made", func(_ *candidate, p *allocated) bool { return p.Life.End == finding.EndFrame && p.Life.Frame == 0 })
	climbs   = test("dies in a caller", func(_ *candidate, p *allocated) bool {
		return p.Life.End == finding.EndFrame && p.Life.Frame > 0 && p.Life.At.Line > 0
	}, "death", "maker", "variant")
	publicMaker = test("made by an exported function", func(c *candidate, p *allocated) bool {
		own := c.heaviestWay(p)
		return p.Life.Frame > 0 && p.Life.Frame <= len(own) && way.Exported(own[p.Life.Frame-1].Function)
	}, "variant")
	forCaller = test("made for the caller of an exported function", func(c *candidate, p *allocated) bool {
		return climbs.ask(c, p) == finding.Yes && publicMaker.ask(c, p) == finding.Yes && p.Life.Maker.At.Line == 0
	}, "death", "maker")
	// The caller names the function that makes it, so it can hand it something.
	named = test("made by a function that the caller names", func(c *candidate, p *allocated) bool {
		own := c.heaviestWay(p)
		if c.source == nil || p.Life.Frame != 1 || len(own) < 2 {
			return false
		}
		l := c.source.At(own[1].File, own[1].Line)
		return l != nil && l.Calls(life.Plain(own[0].Function))
	})
	asked  = test("little of it is used", func(c *candidate, p *allocated) bool { return c.askedAbove(p) != "" }, "asked")
	itself = test("handed up as it is", func(_ *candidate, p *allocated) bool { return p.Life.Field == "" && !p.Life.Passed.Within })
	// closed is held by a field of something with a method that ends its use.
	closed  = test("in a field of what is closed", func(c *candidate, p *allocated) bool { return c.ender(p) != "" }, "ender")
	made    = test("made in each operation", func(c *candidate, p *allocated) bool { return c.perOp(p) >= leastMade })
	handsOn = test("handed on from its field", func(c *candidate, p *allocated) bool { return c.lent[p.owner()] })
	// The field is set to nil where its owner is made ready for the next use.
	sizedElse   = test("made with a size elsewhere", func(c *candidate, p *allocated) bool { return c.source != nil && holder.Sized(c.source, p.owner()) })
	publicField = test("of an exported field", func(c *candidate, p *allocated) bool { return c.source != nil && holder.Public(c.source, p.owner()) })
	readFrom    = test("filled from a reader", func(_ *candidate, p *allocated) bool { return strings.HasSuffix(p.Callee, ".ReadFrom") })
	dropped     = test("set to nil", func(c *candidate, p *allocated) bool { _, ok := c.reset(p); return ok }, "reset")
)

// Facts of pools.
var (
	ofPool = test("made by a pool's New", func(c *candidate, _ *allocated) bool {
		return len(c.Finding.Stacks) > 0 && way.OfPool(c.Finding.Stacks[0], c.Finding.Site, c.yours)
	})
	// givenAway is taken from the pool for callers that are not the module's, or put where another function finds it, or may
	// be: whether they put it back, only they show.
	givenAway = test("taken for others", func(c *candidate, _ *allocated) bool { return c.taken != finding.EndFrame })
	// A pool keeps a returned object for two collections, so returned objects live longer than one cycle. Where
	// collections are frequent, a working pool's objects have short lifetimes too, but few are made.
	lost = fact{"not put back", func(c *candidate, _ *allocated) finding.Tri {
		n, class, site := c.Finding.Cost.ObjectsPerOp.Value, c.Finding.Lifetime.Class, c.Finding.Site
		switch {
		case class != finding.LifetimeShort && class != finding.LifetimeUnknown,
			c.source != nil && flow.PutsBack(c.source.Function(site.File, site.Line, site.Function), site.Line):
			return finding.No
		case n > 0: // a pool fills each processor's part, and again after a collection
			return tri(n >= 0.5 && c.Finding.Cost.Objects.Value > 2*float64(c.diagnosis.Environment.GOMAXPROCS))
		}
		return tri(class == finding.LifetimeShort)
	}, nil}
	unput = test("of a pool that nothing is put into", func(c *candidate, _ *allocated) bool {
		return way.NeverPut(c.source, way.Getters(c.Finding.Stacks, c.yours)) != ""
	}, "pool")
	// ownPool is a pool that is made in each operation.
	ownPool = test("of a pool of its own", func(c *candidate, p *allocated) bool {
		return c.perOp(p) >= 0.5 && way.MakesPool(c.diagnosis, c.Finding)
	})
	// heldPool is a pool that something has, which may be made for each operation.
	heldPool = test("of a pool that is no variable of the package", func(c *candidate, _ *allocated) bool { return waste.HeldPool(c.Finding.Site.Function) })
	putBox   = test("boxed by Put", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindBoxing && p.Callee == "sync.(*Pool).Put" // what Put makes itself is the pool's
	})
)
