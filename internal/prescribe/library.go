package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// libraryEntry is what is known of the library functions that allocate: which
// cure avoids it, the better call, and how many objects stay for each call.
type libraryEntry struct {
	function string // as pprof spells it; a trailing * covers what begins like it
	leaf     string // the innermost function must begin with this; empty: any
	code     string
	better   string  // what to call instead, as the end of the sentence "instead of f, …"
	stays    float64 // objects that the better call still makes, such as the string that is returned
}

// library is the knowledge of the standard library's allocating calls. The
// first entry that fits counts.
var library = []libraryEntry{
	// Compiled once, used often.
	{"regexp.*Compile*", "", "cache-compiled", "compile the expression once, in a package variable", 0},
	{"regexp.MatchString", "", "cache-compiled", "compile the expression once, in a package variable, and use its MatchString", 0},
	{"regexp.Match*", "", "cache-compiled", "compile the expression once, in a package variable", 0},
	{"text/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", 0},
	{"html/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", 0},
	{"text/template.New", "", "cache-compiled", "parse the template once, when the program starts", 0},
	{"html/template.New", "", "cache-compiled", "parse the template once, when the program starts", 0},
	{"strings.NewReplacer", "", "cache-compiled", "make the replacer once, in a package variable: it is safe for concurrent use", 0},
	{"strings.(*Replacer).build*", "", "cache-compiled", "make the replacer once, in a package variable: it is safe for concurrent use", 0},
	{"time.LoadLocation", "", "cache-compiled", "load the location once", 0},
	{"reflect.Value.FieldByName*", "", "cache-compiled", "look the field's index up once per type and name, keep it in a map, and use Field or FieldByIndex", 0},
	{"reflect.(*rtype).FieldByName*", "", "cache-compiled", "look the field up once per type and name, and keep it in a map", 0},
	{"reflect.(*rtype).Field", "", "cache-compiled", "read a type's fields once, and keep what you need of them in a map by type", 0},
	{"reflect.(*rtype).Method*", "", "cache-compiled", "look the method up once per type, and keep its index in a map", 0},
	{"reflect.Value.MethodByName", "", "cache-compiled", "look the method up once per type, and call it through an interface", 0},
	{"reflect.Value.Method", "", "cache-compiled", "look the method up once, or call it through an interface", 0},
	{"reflect.VisibleFields", "", "cache-compiled", "read a type's fields once, and keep them in a map by type", 0},
	{"reflect.StructTag.*", "", "cache-compiled", "read a type's tags once, and keep them in a map by type", 0},
	{"reflect.*Of", "", "cache-compiled", "make the type once, and keep it in a map", 0},
	{"errors.New", "", "cache-compiled", "make the error once, in a package variable", 0},
	{"crypto/x509.*", "", "cache-compiled", "parse the certificate once", 0},
	{"net.ParseCIDR", "", "cache-compiled", "parse it once, or use net/netip, whose values need no memory", 0},
	{"net.ParseIP", "", "avoid-conversion", "use netip.ParseAddr, whose result is a value", 0},

	// Reflection that boxes.
	{"reflect.Value.Interface", "", "unbox-interface", "ask the reflect.Value itself: its Kind, its Type, or Type().Implements; Addr().Interface() boxes a pointer, which needs no memory", 0},
	{"reflect.New", "", "keep-on-stack", "use the value that is there (Field(i).Addr()), or ask reflect.PointerTo(t).Implements, instead of making a new one", 0},
	{"reflect.Value.MapIndex", "", "unbox-interface", "iterate with MapRange and SetIterValue into one reused value, or switch on the map's concrete type first", 0},
	{"reflect.Value.MapKeys", "", "reuse-buffer", "iterate with MapRange and SetIterKey into one reused value", 0},
	{"reflect.(*MapIter).*", "", "reuse-buffer", "use SetIterKey and SetIterValue into values that are made once", 0},
	{"reflect.Value.Call*", "", "unbox-interface", "call through an interface or a typed function value", 0},
	{"reflect.Copy*", "", "unbox-interface", "switch on the concrete type before reflecting", 0},
	{"reflect.Append*", "", "presize-slice", "use reflect.MakeSlice with the final length and set the elements by index", 1},
	{"reflect.MakeSlice", "", "reuse-buffer", "grow and reuse the slice that is there with SetLen", 0},
	{"reflect.MakeMap*", "", "presize-map", "use reflect.MakeMapWithSize with the final length", 1},
	{"reflect.*", "", "unbox-interface", "switch on the concrete types that are frequent before reflecting", 0},

	// State that is made anew for every use.
	{"compress/*", "", "pool-object", "keep readers and writers in a pool and Reset them", 0},
	{"encoding/json.NewDecoder", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal", 0},
	{"encoding/json.(*Decoder).*", "encoding/json.(*Decoder).refill", "pool-buffer", "read into a pooled buffer and use json.Unmarshal", 0},
	{"encoding/json.(*Decoder).*", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal, which needs no decoder and no buffer of its own", 0},
	{"encoding/json.NewEncoder", "", "pool-object", "keep an encoder with its buffer in a pool", 0},
	{"encoding/json.Marshal*", "", "pool-buffer", "use json.NewEncoder on a pooled bytes.Buffer: Marshal copies its result into a new slice", 0},
	{"encoding/gob.*", "", "pool-object", "keep the encoder: it sends a type once and reuses what it compiled", 0},
	{"encoding/csv.NewReader", "", "reuse-buffer", "set ReuseRecord", 0},
	{"encoding/csv.(*Reader).*", "", "reuse-buffer", "set ReuseRecord", 0},
	{"encoding/xml.*", "", "pool-object", "keep encoders in a pool", 0},
	{"bufio.NewReader*", "", "pool-object", "keep readers in a pool and Reset them", 0},
	{"bufio.NewWriter*", "", "pool-object", "keep writers in a pool and Reset them", 0},
	{"bufio.NewScanner", "", "reuse-buffer", "give the scanner a reused buffer with Buffer", 0},
	{"bufio.(*Scanner).Scan", "", "reuse-buffer", "give the scanner a reused buffer with Buffer", 0},
	{"bufio.(*Scanner).Text", "", "avoid-conversion", "use Bytes where the line is not kept", 0},
	{"bufio.(*Reader).ReadString", "", "avoid-conversion", "use ReadSlice where the line is not kept", 0},
	{"bufio.(*Reader).ReadBytes", "", "reuse-buffer", "use ReadSlice where the line is not kept", 0},
	{"io.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", 0},
	{"io/ioutil.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", 0},
	{"io.Copy*", "", "pool-buffer", "use io.CopyBuffer with a pooled buffer", 0},
	{"os.ReadFile", "", "pool-buffer", "open the file and read into a pooled buffer", 0},
	{"crypto/*.New*", "", "pool-object", "use the package's Sum function, which needs no hash object, or keep hashes in a pool and Reset them", 0},
	{"hash/*.New*", "", "pool-object", "use the package's Checksum function, or keep hashes in a pool and Reset them", 0},
	{"math/rand*.New*", "", "pool-object", "use the package's top-level functions, or keep a source per goroutine", 0},
	{"time.After", "", "reuse-buffer", "make one timer with time.NewTimer before the loop and Reset it", 0},
	{"time.NewTimer", "", "reuse-buffer", "keep one timer and Reset it", 0},
	{"time.NewTicker", "", "reuse-buffer", "keep one ticker and Reset it", 0},
	{"time.AfterFunc", "", "reuse-buffer", "keep one timer and Reset it", 0},
	{"bytes.(*Buffer).*", "", "presize-builder", "Grow the buffer once to its final size, or take it from a pool", 1},
	{"bytes.NewBuffer*", "", "pool-buffer", "take the buffer from a pool", 0},
	{"bytes.NewReader", "", "reuse-buffer", "keep the reader and Reset it", 0},
	{"strings.NewReader", "", "reuse-buffer", "keep the reader and Reset it", 0},
	{"net/http.Header.*", "", "presize-map", "make the header with the number of its fields, or set canonical keys directly", 1},
	{"net/http.NewRequest*", "", "reuse-buffer", "keep the request as a template and Clone what differs", 0},

	// Text that is made to be thrown away.
	{"strings.(*Builder).*", "", "presize-builder", "Grow the builder once to its final size", 1},
	{"fmt.Sprint*", "", "avoid-conversion", "append to a byte slice with strconv.Append…, or concatenate", 1},
	{"fmt.Fprint*", "", "avoid-conversion", "write the parts with io.WriteString or strconv.Append… into the writer's AvailableBuffer", 0},
	{"fmt.Append*", "", "avoid-conversion", "append the parts with strconv.Append…", 0},
	{"fmt.Errorf", "", "skip-work", "make the error where it is reported only, or use a typed error that formats itself when it is printed", 0},
	{"fmt.Sscan*", "", "avoid-conversion", "parse with strconv", 0},
	{"fmt.Fscan*", "", "avoid-conversion", "read with a bufio.Scanner and parse with strconv", 0},
	{"strings.Split*", "", "avoid-conversion", "use strings.Cut or IndexByte for one part, strings.SplitSeq for all", 0},
	{"strings.Fields*", "", "avoid-conversion", "use strings.FieldsSeq", 0},
	{"strings.genSplit", "", "avoid-conversion", "use strings.Cut or IndexByte for one part, strings.SplitSeq for all", 0},
	{"bytes.Split*", "", "avoid-conversion", "use bytes.Cut or IndexByte for one part, bytes.SplitSeq for all", 0},
	{"bytes.Fields*", "", "avoid-conversion", "use bytes.FieldsSeq", 0},
	{"strings.ToLower", "", "avoid-conversion", "compare with strings.EqualFold, or keep the lower-case form", 0},
	{"strings.ToUpper", "", "avoid-conversion", "compare with strings.EqualFold, or keep the upper-case form", 0},
	{"bytes.ToLower", "", "avoid-conversion", "compare with bytes.EqualFold, or change the bytes in place", 0},
	{"bytes.ToUpper", "", "avoid-conversion", "compare with bytes.EqualFold, or change the bytes in place", 0},
	{"strings.Join", "", "avoid-conversion", "write the parts to where the text goes", 1},
	{"strings.Replace*", "", "avoid-conversion", "write the pieces to where the text goes, or use a strings.Replacer's WriteString", 1},
	{"strings.(*Replacer).Replace", "", "avoid-conversion", "use WriteString to where the text goes", 0},
	{"strings.Repeat", "", "avoid-conversion", "write the pieces, or keep the longest and slice it", 0},
	{"strings.Map", "", "avoid-conversion", "append the mapped runes to a byte slice", 1},
	{"strings.Title", "", "avoid-conversion", "keep the result", 1},
	{"strings.Clone", "", "avoid-conversion", "keep the string itself where its backing array may live", 0},
	{"strconv.Format*", "", "avoid-conversion", "use strconv.Append… into a buffer", 0},
	{"strconv.Itoa", "", "avoid-conversion", "use strconv.AppendInt into a buffer", 0},
	{"strconv.Quote*", "", "avoid-conversion", "use strconv.AppendQuote into a buffer", 0},
	{"strconv.Unquote*", "", "avoid-conversion", "slice the text where it holds no escape", 0},
	{"strconv.Append*", "", "presize-slice", "give the buffer its final capacity", 0},
	{"bytes.(*Buffer).String", "", "avoid-conversion", "use Bytes, or WriteTo where the text goes", 0},
	{"encoding/hex.EncodeToString", "", "avoid-conversion", "use hex.AppendEncode into a buffer", 0},
	{"encoding/hex.DecodeString", "", "avoid-conversion", "use hex.AppendDecode into a buffer", 0},
	{"encoding/base64.*", "", "avoid-conversion", "use AppendEncode or AppendDecode into a buffer", 0},
	{"time.Time.Format", "", "avoid-conversion", "use AppendFormat into a buffer", 0},
	{"time.Time.String", "", "avoid-conversion", "use AppendFormat into a buffer", 0},
	{"time.Duration.String", "", "avoid-conversion", "append the number and its unit", 0},
	{"time.Time.Marshal*", "", "avoid-conversion", "use AppendFormat into a buffer", 0},
	{"net/url.QueryEscape", "", "avoid-conversion", "check first whether there is anything to escape", 0},
	{"net/url.*", "", "skip-work", "parse only what is needed, or once", 0},
	{"html.EscapeString", "", "avoid-conversion", "use template.HTMLEscape to where the text goes", 0},
	{"path/filepath.*", "", "skip-work", "compute the path once", 0},
	{"path.*", "", "skip-work", "compute the path once", 0},
	{"net/netip.Addr.String", "", "avoid-conversion", "use AppendTo into a buffer", 0},
	{"math/big.(*Int).String", "", "avoid-conversion", "use Append into a buffer", 0},
	{"math/big.*", "", "reuse-buffer", "compute into a number that is there", 0},

	// Interfaces where types would do.
	{"sort.Slice*", "", "unbox-interface", "use slices.SortFunc, which takes no interface and no reflection", 0},
	{"sort.Sort", "", "unbox-interface", "use slices.SortFunc", 0},
	{"sort.Stable", "", "unbox-interface", "use slices.SortStableFunc", 0},
	{"container/list.*", "", "reuse-buffer", "use a slice, or links inside the elements", 0},
	{"container/heap.*", "", "unbox-interface", "use a heap of the concrete type", 0},
	{"slices.Collect", "", "presize-slice", "append into a slice of the final capacity with slices.AppendSeq", 1},
	{"slices.Sorted*", "", "presize-slice", "append into a slice of the final capacity and sort it", 1},
	{"slices.Clone", "", "reuse-buffer", "copy into a slice that is there", 0},
	{"slices.Insert", "", "presize-slice", "give the slice its final capacity", 1},
	{"slices.Concat", "", "reuse-buffer", "append into a slice that is there", 0},
	{"maps.Clone", "", "skip-work", "share the map where nobody writes to it, and copy on the first write", 0},
	{"maps.Keys", "", "presize-slice", "range over the map itself", 0},
	{"sync.(*Pool).Get", "", "pool-misuse", "", 0},
	{"sync.(*Pool).Put", "", "pool-misuse", "put a pointer: a slice or struct is boxed on each Put", 0},
	{"sync.(*Map).*", "", "unbox-interface", "use a map of the concrete types with a lock, or keys and values that are pointers", 0},
	{"context.With*", "", "skip-work", "make the context once per request, or hand the value on as a parameter", 0},
	{"runtime.SetFinalizer", "", "finalizer-cost", "", 0},
	{"runtime.AddCleanup*", "", "finalizer-cost", "", 0},
	{"log/slog.*", "", "skip-work", "ask Enabled first, and use LogAttrs", 0},
	{"log.*", "", "skip-work", "ask first whether the line will be written", 0},
	{"runtime/debug.Stack", "", "skip-work", "take the stack where it is reported only", 0},
	{"runtime.Callers*", "", "skip-work", "take program counters into an array and resolve them where they are printed", 0},
}

// libraryOf finds what is known of a function; nil for nothing.
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
		// The * of a method's receiver is itself.
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
func (p *Part) instead() string {
	if p.Library == nil || p.Library.better == "" {
		return ""
	}
	return "instead of " + shortName(p.Callee) + ", " + p.Library.better
}

// fromLibrary is the proposal of the library table, where it names a code.
func (c *Case) fromLibrary(p *Part, code string) (Proposal, bool) {
	if p.Library == nil || p.Library.code != code {
		return Proposal{}, false
	}
	pr := all(0.9, p.instead(), c.amount(p)+" come from "+shortName(p.Callee))
	if p.Library.stays > 0 && p.isResult() && p.keptResult() {
		pr.Objects, pr.Bytes, pr.Live = 0, 0, 0
		pr.Fit = 0.5
	}
	return pr, true
}

// isResult reports whether the part is what the library function returns, and
// not what it makes on the way.
func (p *Part) isResult() bool {
	switch p.Kind {
	case diagnose.KindConversion, diagnose.KindString, diagnose.KindConcat:
		return true
	}
	return false
}

// keptResult reports whether the code keeps a call's result, so that a better
// call has to make it all the same.
func (p *Part) keptResult() bool {
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
