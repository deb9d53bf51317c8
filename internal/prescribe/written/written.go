// Package written has the rules that need little more than to see how an expression is written: each is a fact of package
// idiom with its cure and its text.
package written

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/rebuilt"
)

// Need is a fact about the object, beside the way in which it is written, that a rule needs.
type Need int

// Facts that rules need.
const (
	Own      Need = iota // no call of a library makes it
	Called               // a call makes it
	Small                // up to 512 bytes
	Several              // more than one in an operation
	Many                 // eight or more
	Dies                 // in a frame that is known
	Passing              // not kept for long
	OnlyRead             // all that is seen to be done with it is to read it
	DiesHere             // in the function that makes it
	Big                  // its blocks are
	Spared               // handed to a function that may return without a look at it
	Begun                // in the function that a goroutine begins with
)

// Rule is a way of writing and its cure.
type Rule struct {
	Name  string // stable: the table of hit rates has it
	Cure  string // code
	Kinds []finding.Kind
	Needs []Need
	// Kept says that the cure fits values that are kept or returned, too, and those that the analysis loses.
	Kept bool
	// Tell is what to do; "" where the expression is written in another way.
	Tell func(p idiom.Place) string
	// Values says that the cure keeps the values where pointers to them were.
	Values bool
	// InPlace says that the object stays where it is declared, so that its type may be one that must not be copied, and what
	// is returned of it may be its memory.
	InPlace bool
	// Less is the part of the objects that the cure takes away; nil for all.
	Less func(p idiom.Place) float64
	// Shorter says that it is the part of the bytes, and that there are as many objects.
	Shorter bool
}

// Takes are the parts of the objects and bytes that the cure of a rule with Less takes away.
func (r Rule) Takes(p idiom.Place) (objects, bytes float64) {
	if bytes = r.Less(p); r.Shorter {
		return 0, bytes
	}
	return bytes, bytes
}

// kinds is a list of kinds of allocation.
func kinds(k ...finding.Kind) []finding.Kind { return k }

// allBut is the part that n equal calls make without the first.
func allBut(n int) float64 {
	if n < 2 {
		return 1
	}
	return 1 - 1/float64(n)
}

// saying is a text where an answer is no, and else the text with the answer in it, in backquotes.
func saying(answer func(idiom.Place) string, format string) func(idiom.Place) string {
	return func(p idiom.Place) string {
		a := answer(p)
		if a == "" {
			return ""
		}
		return fmt.Sprintf(format, a)
	}
}

// where is a text where an answer is yes.
func where(answer func(idiom.Place) bool, text string) func(idiom.Place) string {
	return func(p idiom.Place) string {
		if !answer(p) {
			return ""
		}
		return text
	}
}

// perhaps is the part that a cure takes away which helps some inputs only: the recording does not say how many.
const perhaps = 0.5

// decodedLess is the part by which decoded text is shorter than encoded text: a quarter for base64, three eighths for base32,
// a half for hexadecimal digits. All encodings get that of base32, the median.
const decodedLess = 3.0 / 8

// forFormat asks for the value whose text is made for a function that formats it, of an interface or not.
func forFormat(dynamic bool) func(idiom.Place) string {
	return func(p idiom.Place) string {
		value, of := p.ForFormat()
		if of != dynamic {
			return ""
		}
		return value
	}
}

// Rules has all ways of writing with a cure, in no order.
var Rules = []Rule{
	// Memory that need not be on the heap.
	{Name: "options by value", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own, Small}, Kept: true,
		Tell: saying(idiom.Place.ForFunctions, "without options, do without {expr}, or let values of `%s` take it and give it back by value: a pointer that is handed to them has to be on the heap")},
	{Name: "target of errors.As", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true,
		Tell: where(idiom.Place.OnlyErrorsAs, "ask with errors.AsType (Go 1.26): the address that errors.As is handed puts {expr} on the heap")},
	{Name: "on the heap for its format", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true, InPlace: true,
		Tell: saying(onlyFormatted, "write to `%s` with its own methods and strconv: it is on the heap only because fmt is handed it")},

	{Name: "copied out and put back", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true, InPlace: true,
		Tell: saying(copiedBack, "hand on the address of `%s` itself: {expr} is a copy of it that is put back, and the calls that get its address put it on the heap")},

	{Name: "copied for its address", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true, InPlace: true,
		Tell: saying(elementCopied, "take the address of the element of `%s` itself, if what gets it does not change it: {expr} is a copy that each turn makes on the heap")},

	{Name: "one of any number", Cure: "keep-on-stack", Kinds: kinds(finding.KindVariadic), Kept: true,
		Tell: saying(oneOfMany, "call a method that takes one value, or that of the type itself: what `%s` is handed is put into a slice on the heap, for a method of an interface may keep it")},

	{Name: "elements of their own", Cure: "batch-arena", Kinds: kinds(finding.KindNew), Needs: []Need{Own, Small, Several}, Kept: true, Values: true,
		Tell: saying(idiom.Place.Element, "make {expr} in slabs, or keep the values themselves in `%s` if nothing else has their addresses: each element is an object of its own")},

	{Name: "sorted by its methods", Cure: "unbox-interface", Kinds: kinds(finding.KindBoxing), Kept: true,
		Tell: saying(sortedAs, "call `%s`: sort.Sort needs the slice as an interface value")},
	{Name: "sorted by its address", Cure: "unbox-interface", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true, InPlace: true,
		Tell: where(sortedByAddress, "call slices.SortFunc with what Less compares: the address that sort is handed puts {expr} on the heap")},

	// Text.
	{Name: "put together again", Cure: "avoid-conversion", Kept: true,
		Tell: saying(idiom.Place.CutAgain, "slice `%s` at its separators, with strings.IndexByte: what Join puts together is a part of it")},
	{Name: "few runes of a text", Cure: "avoid-conversion", Kinds: kinds(finding.KindConversion, finding.KindMake),
		Tell: where(idiom.Place.FewRunes, "find the place with range or utf8.DecodeRuneInString, and slice the text: {expr} decodes all of it")},
	{Name: "replacements in a row", Cure: "avoid-conversion", Kept: true,
		Tell: func(p idiom.Place) string {
			n := len(p.Replacements().Calls)
			if n < 2 {
				return ""
			}
			return fmt.Sprintf("replace all by one strings.Replacer in a package variable: each of the %d calls copies the text", n)
		},
		Less: func(p idiom.Place) float64 { return allBut(len(p.Replacements().Calls)) }},
	{Name: "replaced in each turn", Cure: "avoid-conversion", Needs: []Need{Called}, Kept: true,
		Tell: saying(replacedInTurns, "go over `%s` once, and write its parts and what is put between them to one buffer: each turn of the loop copies all of it"),
		Less: func(idiom.Place) float64 { return perhaps }},
	{Name: "asked in another form", Cure: "avoid-conversion", Kinds: kinds(finding.KindConversion),
		Tell: saying(idiom.Place.OtherPackage, "ask with %s, which takes it as it is")},

	{Name: "asked before it is kept", Cure: "avoid-conversion", Kinds: kinds(finding.KindConversion), Kept: true,
		Tell: saying(idiom.Place.KeyFirst, "ask `%s` with the conversion in the index, as in m[string(b)], which copies nothing, and make the text only for what it lacks")},
	{Name: "decoded in its own form", Cure: "avoid-conversion", Kinds: kinds(finding.KindConversion), Kept: true,
		Tell: saying(inOtherForm, "call `%s`, which takes it as it is: {expr} copies it for this call alone")},
	{Name: "put together to be compared", Cure: "avoid-conversion", Kinds: kinds(finding.KindConcat), Kept: true,
		Tell: where(OnlyCompared, "compare the parts one after the other: {expr} is put together for nothing else")},
	{Name: "number behind zeros", Cure: "avoid-conversion", Needs: []Need{Called}, Kept: true,
		Tell: where(idiom.Place.Padded, "fill the slice with FillBytes, which puts zeros in front itself: {callee} makes a copy to copy from")},
	{Name: "text for its bytes", Cure: "avoid-conversion", Kinds: kinds(finding.KindConcat, finding.KindConversion, finding.KindString), Kept: true,
		Tell: where(idiom.Place.OnlyBytes, "append to a []byte from the start: the text {expr} is only converted to bytes")},

	// Work that is done again, or for nothing.
	{Name: "timer before it has to wait", Cure: "skip-work", Needs: []Need{Called}, Kept: true,
		Tell: where(idiom.Place.Waits, "try the other cases first, in a select with default, and call {callee} only where it has to wait")},
	{Name: "goroutine that waits for a time", Cure: "skip-work", Needs: []Need{Called, Begun}, Kept: true,
		Tell: where(waitsForTime, "use time.AfterFunc with what the goroutine does when the time is over, and Stop: the goroutine, and the channel of {callee}, only wait")},
	{Name: "source seeded by the clock", Cure: "skip-work", Needs: []Need{Called}, Kept: true,
		Tell: where(ofClock, "use the functions of math/rand, or a PCG of math/rand/v2, which takes 16 B: a seed of the clock asks for no sequence in particular, and this source makes and fills 4.9 KB each time")},
	{Name: "longer than what is decoded", Cure: "presize-slice", Kinds: kinds(finding.KindMake), Kept: true,
		Tell: saying(decodedSize, "make it `%s` long: what is decoded is shorter than the text"),
		Less: func(idiom.Place) float64 { return decodedLess }, Shorter: true},
	{Name: "small file", Cure: "presize-slice", Kinds: kinds(finding.KindMake), Needs: []Need{Called, Passing, Small},
		Tell: where(readsFile, "open the file and Read it to its end into a buffer of the size of such files: {callee} makes 512 B at least, and more where the file does not say its size")},
	{Name: "type as a text", Cure: "avoid-conversion", Needs: []Need{Called}, Kept: true,
		Tell: where(idiom.Place.IsType, "use reflect.TypeOf(…).String() where the value is not nil, which makes no text of its own")},
	{Name: "buffer for one write", Cure: "skip-work", Kinds: kinds(finding.KindMake, finding.KindNew, finding.KindGrowth), Needs: []Need{Own, DiesHere},
		Tell: saying(idiom.Place.ForOneWrite, "write the parts to `%s` one by one: {expr} is put together for nothing else")},
	{Name: "text for a format", Cure: "skip-work", Kept: true,
		Tell: saying(forFormat(true), "hand on `%s` itself: what formats it makes the text, if it needs one, and no box")},
	{Name: "text for a format that may not be needed", Cure: "skip-work", Needs: []Need{Spared}, Kept: true,
		Tell: saying(forFormat(false), "hand on `%s` itself: what formats it makes the text, if it needs one, and no box")},
	{Name: "copied without a change", Cure: "skip-work", Kept: true,
		Tell: saying(rebuilt.Unchanged, "look for the first character that is replaced, and return `%s` itself where there is none: all of it is copied each time"),
		Less: func(idiom.Place) float64 { return perhaps }},
	{Name: "gathered as it is", Cure: "avoid-conversion", Kept: true,
		Tell: saying(rebuilt.Piece, "find where it begins and ends, and slice `%s` itself: its characters are gathered one by one, as they are")},
	{Name: "one element of another", Cure: "skip-work", Kinds: kinds(finding.KindNew), Needs: []Need{Own, OnlyRead, Dies},
		Tell: saying(idiom.Place.OfAnother, "use `%s`: the slice of one element is only read")},
	{Name: "copy made to be read", Cure: "skip-work", Kinds: kinds(finding.KindMake), Needs: []Need{Own, OnlyRead, Dies},
		Tell: saying(idiom.Place.MadeCopy, "use `%s` itself: the copy is only read")},
	{Name: "text of what is set anew", Cure: "avoid-conversion", Kinds: kinds(finding.KindConversion), Kept: true,
		Tell: saying(copyOfOld, "use `%s` itself, without {expr}: what is made with the copy takes its place, so nothing else needs the old one")},
	{Name: "copy of what is set anew", Cure: "skip-work", Kinds: kinds(finding.KindGrowth, finding.KindMake), Kept: true,
		Tell: saying(copyOfOld, "use `%s` itself: what is made with the copy takes its place, so nothing else needs the old one")},
	{Name: "copied under a lock", Cure: "skip-work", Kinds: kinds(finding.KindMake, finding.KindGrowth), Needs: []Need{OnlyRead, Dies},
		Tell: saying(idiom.Place.Guarded, "let what changes `%s` put a new slice in its place, under the lock: readers then need no copy")},
	{Name: "read to be written", Cure: "skip-work", Needs: []Need{Called},
		Tell: where(idiom.Place.WrittenOn, "copy with io.Copy: what {callee} reads is only written again")},
	{Name: "made to be taken apart", Cure: "skip-work", Kept: true,
		Tell: saying(idiom.Place.ParsedAgain, "make the value of what is there, such as with time.Date: %s takes the text apart that is put together for it")},
	{Name: "decoded into a map", Cure: "skip-work", Kept: true,
		Tell: saying(idiom.Place.Loose, "decode into a struct that has the fields which are read of `%s`: the map gets all of the text, with each value boxed")},
	{Name: "encoded to be decoded", Cure: "skip-work", Kept: true,
		Tell: where(idiom.Place.EncodedAgain, "copy the fields themselves: the value is encoded as JSON only to be decoded again")},
	{Name: "constant header", Cure: "cache-compiled", Needs: []Need{Called}, Kept: true,
		Tell: where(idiom.Place.ConstantHeader, "keep the value in a slice in a package variable, and set the header's entry under its canonical key to that: Set makes a slice for one value")},
	{Name: "values in a row", Cure: "skip-work", Needs: []Need{Called}, Kept: true,
		Tell: func(p idiom.Place) string {
			n := p.Contexts()
			if n < 2 {
				return ""
			}
			return fmt.Sprintf("put the %d values into one struct, under one key: each call makes a context and boxes its value", n)
		},
		Less: func(p idiom.Place) float64 { return allBut(p.Contexts()) }},

	// Memory that is used again.
	{Name: "buffer of a copy", Cure: "pool-buffer", Kinds: kinds(finding.KindMake), Needs: []Need{Own, Big, DiesHere},
		Tell: where(idiom.Place.CopyBuffer, "take {expr} from a sync.Pool: a loop reads into it and writes it out, and nothing has it afterwards")},
	{Name: "read whole and forgotten", Cure: "pool-buffer", Needs: []Need{Called, Passing, Dies},
		Tell: where(readsAll, "read into a bytes.Buffer from a pool, by its ReadFrom: {callee} begins with 512 bytes, which grow again and again, and nothing keeps them")},
	{Name: "scratch for an interface", Cure: "reuse-buffer", Kinds: kinds(finding.KindNew, finding.KindMake), Needs: []Need{Own, Small, DiesHere}, Kept: true,
		Tell: saying(idiom.Place.Scratch, "make {expr} a field of the receiver, if its methods are not called at the same time: what `%s` is handed has to be on the heap")},
	{Name: "encoded line by line", Cure: "reuse-buffer", Needs: []Need{Called}, Kept: true,
		Tell: saying(encodedByLine, "make a json.Encoder of `%s` before the loop, whose Encode writes the value and the end of the line from memory of a pool: {callee} copies each")},
	{Name: "scratch that begins as nil", Cure: "reuse-buffer", Needs: []Need{Called, Dies, Passing},
		Tell: saying(fromNil, "begin `%s` with memory that is kept, such as from a pool, or with a part of an array on the stack: it is nil in each call, and {callee} grows it")},
	{Name: "grown and not put back", Cure: "reuse-buffer", Kinds: kinds(finding.KindGrowth), Needs: []Need{Own}, Kept: true,
		Tell: saying(unkept, "set `%s` to the slice when it is filled: it begins with the array of that field, which stays too small")},
	{Name: "filtered into another slice", Cure: "reuse-buffer", Kinds: kinds(finding.KindMake, finding.KindGrowth), Needs: []Need{Own}, Kept: true,
		Tell: saying(filtered, "put what is kept at the front of `%s` itself, and clear the rest, if nothing else has its array: the new slice takes its place")},
	{Name: "text of a descent", Cure: "reuse-buffer", Kinds: kinds(finding.KindConcat, finding.KindConversion), Kept: true,
		Tell: saying(idiom.Place.Descends, "carry `%s` as a []byte that each call appends to and cuts again, and make a text only where one is kept")},
	{Name: "read in the next turn only", Cure: "reuse-buffer", Kinds: kinds(finding.KindMake),
		Tell: saying(idiom.Place.Swapped, "make two before the loop, and let them change their places: of the earlier ones, only `%s` is read")},
	{Name: "number in its own place", Cure: "reuse-buffer", Kept: true,
		Tell: saying(idiom.Place.OwnNumber, "let the method set `%s` itself: in math/big, the receiver may be one of the arguments")},
}
