package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// libraryEntry describes allocating library functions: the cure that avoids the allocation,
// the better call, and the residue of that call.
type libraryEntry struct {
	function string // as pprof spells it; a trailing * matches any end
	leaf     string // the innermost function must begin with this; empty: any
	code     string
	better   string  // what to call instead, as the end of the sentence "instead of f, …"
	stays    residue // what the better call still makes
}

// residue says what a better call still has to allocate.
type residue int

const (
	nothing residue = iota
	result          // what the call returns, where the code keeps it
	values          // what it decodes into: strings, maps, values of the user's types
	handed          // nothing: it hands over the memory that is there, also where the code keeps it
)

// library lists the standard library's allocating calls. The first entry that fits counts.
var library = []libraryEntry{
	// Compiled once, used often.
	{"regexp.*Compile*", "", "cache-compiled", "compile the expression once, in a package variable", nothing},
	{"regexp.MatchString", "", "cache-compiled", "compile the expression once, in a package variable, and use its MatchString", nothing},
	{"regexp.Match*", "", "cache-compiled", "compile the expression once, in a package variable", nothing},
	{"text/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", nothing},
	{"html/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", nothing},
	{"text/template.New", "", "cache-compiled", "parse the template once, when the program starts", nothing},
	{"html/template.New", "", "cache-compiled", "parse the template once, when the program starts", nothing},
	{"strings.NewReplacer", "", "cache-compiled", "make the replacer once, in a package variable: it is safe for concurrent use", nothing},
	{"strings.(*Replacer).build*", "", "cache-compiled", "make the replacer once, in a package variable: it is safe for concurrent use", nothing},
	{"time.LoadLocation", "", "cache-compiled", "load the location once", nothing},
	{"reflect.Value.FieldByName*", "", "cache-compiled", "look the field's index up once per type and name, keep it in a map, and use Field or FieldByIndex", nothing},
	{"reflect.(*rtype).FieldByName*", "", "cache-compiled", "look the field up once per type and name, and keep it in a map", nothing},
	{"reflect.(*rtype).Field", "", "cache-compiled", "read a type's fields once, and keep what you need of them in a map by type", nothing},
	{"reflect.(*rtype).Method*", "", "cache-compiled", "look the method up once per type, and keep its index in a map", nothing},
	{"reflect.Value.MethodByName", "", "cache-compiled", "look the method up once per type, and call it through an interface", nothing},
	{"reflect.Value.Method", "", "cache-compiled", "look the method up once, or call it through an interface", nothing},
	{"reflect.VisibleFields", "", "cache-compiled", "read a type's fields once, and keep them in a map by type", nothing},
	{"reflect.StructTag.*", "", "cache-compiled", "read a type's tags once, and keep them in a map by type", nothing},
	{"reflect.ArrayOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"reflect.ChanOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"reflect.FuncOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"reflect.MapOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"reflect.SliceOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"reflect.StructOf", "", "cache-compiled", "make the type once, and keep it in a map", nothing},
	{"errors.New", "", "cache-compiled", "make the error once, in a package variable", nothing},
	{"crypto/x509.ParseCertificate*", "", "cache-compiled", "parse the certificate once", nothing},
	{"net.ParseCIDR", "", "cache-compiled", "parse it once, or use net/netip, whose values need no memory", nothing},
	{"net.ParseIP", "", "avoid-conversion", "use netip.ParseAddr, whose result is a value", nothing},

	// Reflection that boxes.
	{"reflect.Value.Interface", "", "unbox-interface", "ask the reflect.Value itself: its Kind, its Type, or Type().Implements; Addr().Interface() boxes a pointer, which needs no memory", nothing},
	{"reflect.New", "", "keep-on-stack", "use the value that is there (Field(i).Addr()), or ask reflect.PointerTo(t).Implements, instead of making a new one", nothing},
	{"reflect.Value.MapIndex", "", "unbox-interface", "switch on the concrete types of maps that are frequent before reflecting", nothing},
	{"reflect.Value.MapKeys", "", "reuse-buffer", "iterate with MapRange and SetIterKey into one reused value", nothing},
	{"reflect.(*MapIter).*", "", "reuse-buffer", "use SetIterKey and SetIterValue into values that are made once", nothing},
	{"reflect.Value.Call*", "", "unbox-interface", "call through an interface or a typed function value", nothing},
	{"reflect.Copy*", "", "unbox-interface", "switch on the concrete type before reflecting", nothing},
	{"reflect.Append*", "", "presize-slice", "use reflect.MakeSlice with the final length and set the elements by index", result},
	{"reflect.MakeSlice", "", "reuse-buffer", "grow and reuse the slice that is there with SetLen", nothing},
	{"reflect.MakeMap*", "", "presize-map", "use reflect.MakeMapWithSize with the final length", result},

	// State that is created for every use.
	{"compress/*.New*", "", "pool-object", "keep readers and writers in a pool and Reset them", nothing},
	{"compress/*.(*Writer).*", "", "pool-object", "keep the writer in a pool and Reset it: it makes its tables with its first Write", nothing},
	{"compress/*.(*Reader).*", "", "pool-object", "keep the reader in a pool and Reset it", nothing},
	{"encoding/json.NewDecoder", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal", nothing},
	{"encoding/json.(*Decoder).*", "encoding/json.(*Decoder).refill", "pool-buffer", "read into a pooled buffer and use json.Unmarshal", values},
	{"encoding/json.(*Decoder).*", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal, which needs no decoder and no buffer of its own", values},
	{"encoding/json.NewEncoder", "", "pool-object", "keep an encoder with its buffer in a pool", nothing},
	{"encoding/json.Marshal*", "", "pool-buffer", "use json.NewEncoder on a pooled bytes.Buffer: Marshal copies its result into a new slice", nothing},
	{"encoding/gob.New*", "", "pool-object", "keep the encoder or decoder of a stream: it sends a type once and reuses what it compiled", nothing},
	{"encoding/csv.NewReader", "", "reuse-buffer", "set ReuseRecord", nothing},
	{"encoding/csv.(*Reader).*", "", "reuse-buffer", "set ReuseRecord", values},
	{"encoding/xml.NewEncoder", "", "pool-object", "keep encoders in a pool", nothing},
	{"bufio.NewReader*", "", "pool-object", "keep readers in a pool and Reset them", nothing},
	{"bufio.NewWriter*", "", "pool-object", "keep writers in a pool and Reset them", nothing},
	{"bufio.NewScanner", "", "reuse-buffer", "give the scanner a reused buffer with Buffer", nothing},
	{"bufio.(*Scanner).Scan", "", "reuse-buffer", "give the scanner a reused buffer with Buffer", nothing},
	{"bufio.(*Scanner).Text", "", "avoid-conversion", "use Bytes where the line is not kept", nothing},
	{"bufio.(*Reader).ReadString", "", "avoid-conversion", "use ReadSlice where the line is not kept", nothing},
	{"bufio.(*Reader).ReadBytes", "", "reuse-buffer", "use ReadSlice where the line is not kept", nothing},
	{"io.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", nothing},
	{"io/ioutil.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", nothing},
	{"io.Copy*", "", "pool-buffer", "use io.CopyBuffer with a pooled buffer", nothing},
	{"os.ReadFile", "", "pool-buffer", "open the file and read into a pooled buffer", nothing},
	{"crypto/hmac.New", "", "pool-object", "keep the hash of each key in a pool and Reset it", nothing},
	{"crypto/*.New*", "", "pool-object", "use the package's Sum function, which needs no hash object, or keep hashes in a pool and Reset them", nothing},
	{"hash/*.New*", "", "pool-object", "use the package's Checksum function, or keep hashes in a pool and Reset them", nothing},
	{"math/rand*.New*", "", "pool-object", "use the package's top-level functions, or keep a source per goroutine", nothing},
	{"time.After", "", "reuse-buffer", "make one timer with time.NewTimer before the loop and Reset it", nothing},
	{"time.NewTimer", "", "reuse-buffer", "keep one timer and Reset it", nothing},
	{"time.NewTicker", "", "reuse-buffer", "keep one ticker and Reset it", nothing},
	{"time.AfterFunc", "", "reuse-buffer", "keep one timer and Reset it", nothing},
	{"bytes.(*Buffer).String", "", "avoid-conversion", "build the text in a strings.Builder, whose String does not copy", handed},
	{"bytes.(*Buffer).*", "", "presize-builder", "Grow the buffer once to its final size, or take it from a pool", result},
	{"bytes.NewBuffer*", "", "pool-buffer", "take the buffer from a pool", nothing},
	{"bytes.NewReader", "", "reuse-buffer", "keep the reader and Reset it", nothing},
	{"strings.NewReader", "", "reuse-buffer", "keep the reader and Reset it", nothing},
	{"net/http.Header.*", "", "presize-map", "make the header with the number of its fields, or set canonical keys directly", result},
	{"net/http.NewRequest*", "", "reuse-buffer", "keep the request as a template and Clone what differs", nothing},

	// Text that is created only to be discarded.
	{"strings.(*Builder).*", "", "presize-builder", "Grow the builder once to its final size", result},
	{"fmt.Sprint*", "", "avoid-conversion", "append to a byte slice with strconv.Append…, or concatenate", result},
	{"fmt.Fprint*", "", "avoid-conversion", "write the parts with io.WriteString or strconv.Append… into the writer's AvailableBuffer", nothing},
	{"fmt.Append*", "", "avoid-conversion", "append the parts with strconv.Append…", nothing},
	{"fmt.Errorf", "", "skip-work", "make the error where it is reported only, or use a typed error that formats itself when it is printed", nothing},
	{"fmt.Sscan*", "", "avoid-conversion", "parse with strconv", nothing},
	{"fmt.Fscan*", "", "avoid-conversion", "read with a bufio.Scanner and parse with strconv", nothing},
	{"strings.Split*", "", "avoid-conversion", "use strings.Cut or IndexByte for one part, strings.SplitSeq for all", nothing},
	{"strings.Fields*", "", "avoid-conversion", "use strings.FieldsSeq", nothing},
	{"strings.genSplit", "", "avoid-conversion", "use strings.Cut or IndexByte for one part, strings.SplitSeq for all", nothing},
	{"bytes.Split*", "", "avoid-conversion", "use bytes.Cut or IndexByte for one part, bytes.SplitSeq for all", nothing},
	{"bytes.Fields*", "", "avoid-conversion", "use bytes.FieldsSeq", nothing},
	{"strings.ToLower", "", "avoid-conversion", "compare with strings.EqualFold, or keep the lower-case form", nothing},
	{"strings.ToUpper", "", "avoid-conversion", "compare with strings.EqualFold, or keep the upper-case form", nothing},
	{"bytes.ToLower", "", "avoid-conversion", "compare with bytes.EqualFold, or change the bytes in place", nothing},
	{"bytes.ToUpper", "", "avoid-conversion", "compare with bytes.EqualFold, or change the bytes in place", nothing},
	{"strings.Join", "", "avoid-conversion", "write the parts to where the text goes", result},
	{"strings.Replace*", "", "avoid-conversion", "write the pieces to where the text goes, or use a strings.Replacer's WriteString", result},
	{"strings.(*Replacer).Replace", "", "avoid-conversion", "use WriteString to where the text goes", nothing},
	{"strings.Repeat", "", "avoid-conversion", "write the pieces, or keep the longest and slice it", nothing},
	{"strings.Map", "", "avoid-conversion", "append the mapped runes to a byte slice", result},
	{"strings.Clone", "", "avoid-conversion", "keep the string itself where its backing array may live", nothing},
	{"strconv.Format*", "", "avoid-conversion", "use strconv.Append… into a buffer", nothing},
	{"strconv.Itoa", "", "avoid-conversion", "use strconv.AppendInt into a buffer", nothing},
	{"strconv.Quote*", "", "avoid-conversion", "use strconv.AppendQuote into a buffer", nothing},
	{"strconv.Unquote*", "", "avoid-conversion", "slice the text where it holds no escape", nothing},
	{"strconv.Append*", "", "presize-slice", "give the buffer its final capacity", nothing},
	{"encoding/hex.EncodeToString", "", "avoid-conversion", "use hex.AppendEncode into a buffer", nothing},
	{"encoding/hex.DecodeString", "", "avoid-conversion", "use hex.AppendDecode into a buffer", nothing},
	{"encoding/base64.*", "", "avoid-conversion", "use AppendEncode or AppendDecode into a buffer", nothing},
	{"time.Time.Format", "", "avoid-conversion", "use AppendFormat into a buffer", nothing},
	{"time.Time.String", "", "avoid-conversion", "use AppendFormat into a buffer", nothing},
	{"time.Duration.String", "", "avoid-conversion", "append the number and its unit", nothing},
	{"time.Time.Marshal*", "", "avoid-conversion", "use AppendFormat into a buffer", nothing},
	{"net/url.QueryEscape", "", "avoid-conversion", "check first whether there is anything to escape", nothing},
	{"html.EscapeString", "", "avoid-conversion", "use template.HTMLEscape to where the text goes", nothing},
	{"net/netip.Addr.String", "", "avoid-conversion", "use AppendTo into a buffer", nothing},
	{"math/big.(*Int).String", "", "avoid-conversion", "use Append into a buffer", nothing},
	{"math/big.NewInt", "", "reuse-buffer", "set a number that is there", nothing},
	{"math/big.NewFloat", "", "reuse-buffer", "set a number that is there", nothing},
	{"math/big.NewRat", "", "reuse-buffer", "set a number that is there", nothing},

	// Interfaces in place of types.
	{"sort.Slice*", "", "unbox-interface", "use slices.SortFunc, which takes no interface and no reflection", nothing},
	{"sort.Sort", "", "unbox-interface", "use slices.SortFunc", nothing},
	{"sort.Stable", "", "unbox-interface", "use slices.SortStableFunc", nothing},
	{"container/heap.*", "", "unbox-interface", "use a heap of the concrete type", nothing},
	{"slices.Collect", "", "presize-slice", "append into a slice of the final capacity with slices.AppendSeq", result},
	{"slices.Sorted*", "", "presize-slice", "append into a slice of the final capacity and sort it", result},
	{"slices.Clone", "", "reuse-buffer", "copy into a slice that is there", nothing},
	{"slices.Insert", "", "presize-slice", "give the slice its final capacity", result},
	{"slices.Concat", "", "reuse-buffer", "append into a slice that is there", nothing},
	{"maps.Clone", "", "skip-work", "share the map where nobody writes to it, and copy on the first write", nothing},
	{"maps.Keys", "", "presize-slice", "range over the map itself", nothing},
	{"sync.(*Pool).Get", "", "pool-misuse", "", nothing},
	{"sync.(*Pool).Put", "", "pool-misuse", "put a pointer: a slice or struct is boxed on each Put", nothing},
	{"runtime.SetFinalizer", "", "finalizer-cost", "", nothing},
	{"runtime.AddCleanup*", "", "finalizer-cost", "", nothing},
	{"log/slog.(*Logger).Debug*", "", "unbox-interface", "use LogAttrs with slog.Int, slog.String and the like, which box nothing", nothing},
	{"log/slog.(*Logger).Info*", "", "unbox-interface", "use LogAttrs with slog.Int, slog.String and the like, which box nothing", nothing},
	{"log/slog.(*Logger).Warn*", "", "unbox-interface", "use LogAttrs with slog.Int, slog.String and the like, which box nothing", nothing},
	{"log/slog.(*Logger).Error*", "", "unbox-interface", "use LogAttrs with slog.Int, slog.String and the like, which box nothing", nothing},
	{"runtime/debug.Stack", "", "skip-work", "take the stack where it is reported only", nothing},
	{"runtime.Callers*", "", "skip-work", "take program counters into an array and resolve them where they are printed", nothing},
}

// libraryOf finds the entry of a function; nil for none.
func libraryOf(function, leaf string) *libraryEntry {
	if function == "" {
		return nil
	}
	for i := range library {
		e := &library[i]
		if matchPattern(e.function, function) && strings.HasPrefix(leaf, e.leaf) {
			return e
		}
	}
	return nil
}

// matchPattern matches a name against a pattern in which * stands for any
// characters.
func matchPattern(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if strings.HasSuffix(head, "(") && star {
		// The * of a method's receiver is literal.
		more, tail, again := strings.Cut(rest, "*")
		head, rest, star = head+"*"+more, tail, again
	}
	if !star {
		return head == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	if rest == "" {
		return true
	}
	for i := 0; i <= len(name); i++ {
		if matchPattern(rest, name[i:]) {
			return true
		}
	}
	return false
}

// instead is the sentence that names the better call.
func (p *allocated) instead() string {
	if p.Library == nil || p.Library.better == "" {
		return ""
	}
	return "instead of " + shortName(p.Callee) + ", " + p.Library.better
}

// fromLibrary is the proposal of the library table, where it names a code.
func (c *candidate) fromLibrary(p *allocated, code string) (proposal, bool) {
	if p.Library == nil || p.Library.code != code {
		return proposal{}, false
	}
	pr := all(evident, p.instead(), c.amount(p)+" come from "+shortName(p.Callee))
	if p.Library.stays == values && p.isValue() {
		return proposal{}, false
	}
	if p.Library.stays == result && p.isResult() && p.keptResult() {
		pr.Objects, pr.Bytes, pr.Live = 0, 0, 0
		pr.Fit = even
	}
	return pr, true
}

// isValue reports whether the part has the kind of decoded values, and is not the decoder's
// own memory.
func (p *allocated) isValue() bool {
	switch p.Kind {
	case finding.KindReflect, finding.KindMap, finding.KindMapGrowth, finding.KindBoxing:
		return true
	}
	return p.isResult()
}

// isResult reports whether the part is the library function's result, and not temporary
// memory.
func (p *allocated) isResult() bool {
	switch p.Kind {
	case finding.KindConversion, finding.KindString, finding.KindConcat:
		return true
	}
	return false
}

// keptResult reports whether the code keeps a call's result, so a better call has to
// allocate it too.
func (p *allocated) keptResult() bool {
	if p.Expr == nil {
		return false
	}
	switch u := p.Expr.Use; u.Kind {
	case source.UseReturned:
		return true
	case source.UseAssigned:
		return u.Field
	}
	return false
}
