// Package library knows the allocating calls of the standard library and of a few other modules: the cure that avoids the
// allocation, the better call, and what that still makes. Every entry is a fact about a call.
package library

import (
	"maps"
	"slices"
	"strings"
)

// Entry describes allocating library functions: the cure that avoids the allocation,
// the better call, and the residue of that call.
type Entry struct {
	Function string // as pprof spells it; a trailing * matches any end
	Leaf     string // the innermost function must begin with this; empty: any
	Code     string
	Better   string  // what to call instead, as the end of the sentence "instead of f, …"
	Stays    Residue // what the better call still makes
}

// KeepsResult reports whether the better call still makes the result. Nil is no entry.
func (e *Entry) KeepsResult() bool { return e != nil && e.Stays == Result }

// Residue says what a better call still has to allocate.
type Residue int

// The residues.
const (
	Nothing Residue = iota
	Result          // what the call returns, where the code keeps it
	Values          // what it decodes into: strings, maps, values of the user's types
	Failed          // its error, which is all that it allocates
	Handed          // nothing: it hands over the memory that is there, also where the code keeps it
)

// Better calls that several entries have.
const (
	onlyErrors     = "check the text first: the call allocates only for its error"
	commonLayout   = "try the most common layout first: each failed attempt allocates an error"
	limitedCopy    = "keep an io.LimitedReader, and copy from it with io.CopyBuffer: each call allocates one"
	onceReplacer   = "make the replacer once, in a package variable: it is safe for concurrent use"
	pooledHash     = "keep hashes in a pool and Reset them"
	typedLog       = "use LogAttrs with slog.Int, slog.String and the like: up to five need no memory"
	sumOrPool      = "use the package's Sum function where the bytes are there at once, or keep hashes in a pool and Reset them"
	pooledStream   = "keep readers and writers in a pool and Reset them"
	sameAppend     = "use the Append form of the same name into a buffer"
	keptNumber     = "use a number that is there as the receiver: it keeps its words"
	keptQuotient   = "use QuoRem with two numbers that are there: they keep their words, and what is not asked for is not made anew"
	keptModulus    = "use DivMod with two numbers that are there: they keep their words, and what is not asked for is not made anew"
	encodedAtOnce  = "encode into bytes that are used again, with Encode, and write those: an encoder of a stream has buffers of its own, and the bytes are there at once"
	leveledLog     = "ask IsLevelEnabled first: the fields are put into a map and copied whether the level is on or not"
	pooledReader   = "hand it a bufio.Reader from a pool, which it reads through as it is"
	pooledWriter   = "hand it a bufio.Writer from a pool, which it writes to as it is"
	knownFields    = "decode into a struct of the fields that are asked for: as an interface each value is an object, and all are taken"
	fieldsOfCall   = "hand the attributes to the call that logs, or keep the logger: With clones its handler each time"
	askedFirst     = "ask Match or MatchString first: it copies the text even if nothing matches"
	statelessCoder = "make it once, in a package variable: that of a charmap keeps nothing from call to call"
	onceForKey     = "make it once for each key, and keep it: it expands the key again each time"
)

// entries lists allocating calls of the standard library, and of a few modules that most programs have. The first that fits counts.
var entries = []Entry{
	// Compiled once, used often.
	{"regexp.*Compile*", "", "cache-compiled", "compile the expression once, in a package variable", Nothing},
	{"regexp.MatchString", "", "cache-compiled", "compile the expression once, in a package variable, and use its MatchString", Nothing},
	{"regexp.Match*", "", "cache-compiled", "compile the expression once, in a package variable", Nothing},
	{"text/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", Nothing},
	{"html/template.*Parse*", "", "cache-compiled", "parse the template once, when the program starts", Nothing},
	{"text/template.New", "", "cache-compiled", "parse the template once, when the program starts", Nothing},
	{"html/template.New", "", "cache-compiled", "parse the template once, when the program starts", Nothing},
	{"strings.NewReplacer", "", "cache-compiled", onceReplacer, Nothing},
	{"strings.(*Replacer).*", "strings.(*Replacer).build", "cache-compiled", onceReplacer, Nothing},
	{"strings.(*Replacer).*", "strings.make", "cache-compiled", onceReplacer, Nothing},
	{"strings.(*Replacer).*", "strings.(*trieNode)", "cache-compiled", onceReplacer, Nothing},
	{"time.LoadLocation", "", "cache-compiled", "load each location once, and keep it in a sync.Map by its name", Nothing},
	{"time.FixedZone", "", "cache-compiled", "make each zone once, and keep it by its offset, under a lock", Nothing},
	{"os.Hostname", "", "cache-compiled", "ask once, when the program starts", Nothing},
	{"os.Executable", "", "cache-compiled", "ask once, when the program starts", Nothing},
	{"reflect.Value.FieldByName", "", "cache-compiled", "look the field's index up once per type and name, keep it in a map, and use Field or FieldByIndex", Nothing},
	{"reflect.(*rtype).FieldByName*", "", "cache-compiled", "look the field up once per type and name, and keep it in a map", Nothing},
	{"reflect.(*rtype).Method*", "", "cache-compiled", "look the method up once per type, and keep its index in a map", Nothing},
	{"reflect.Value.MethodByName", "", "cache-compiled", "look the method up once per type and name, keep its index in a map, and use Method", Nothing},
	{"reflect.VisibleFields", "", "cache-compiled", "read a type's fields once, and keep them in a map by type", Nothing},
	{"reflect.FuncOf", "", "cache-compiled", "make the type once, and keep it in a map", Nothing},
	{"reflect.StructOf", "", "cache-compiled", "make the type once, and keep it in a map", Nothing},
	{"errors.New", "", "cache-compiled", "make the error once, in a package variable", Nothing},
	{"golang.org/x/text/encoding/charmap.(*Charmap).NewDecoder", "", "cache-compiled", statelessCoder, Nothing},
	{"golang.org/x/text/encoding/charmap.(*Charmap).NewEncoder", "", "cache-compiled", statelessCoder, Nothing},
	{"golang.org/x/text/language.NewMatcher", "", "cache-compiled", "make the matcher once for each list of tags", Nothing},
	{"golang.org/x/text/language.Parse", "", "cache-compiled", "parse each tag once, and keep it by its text, under a lock", Nothing},
	{"golang.org/x/text/language.Make", "", "cache-compiled", "parse each tag once, and keep it by its text, under a lock", Nothing},
	{"golang.org/x/text/language.MustParse", "", "cache-compiled", "parse each tag once, and keep it by its text, under a lock", Nothing},
	{"net.CIDRMask", "", "cache-compiled", "make the mask once for each length", Nothing},
	{"hash/crc32.MakeTable", "", "cache-compiled", "make the table once, in a package variable", Nothing},
	{"hash/crc64.MakeTable", "", "cache-compiled", "make the table once, in a package variable", Nothing},
	{"runtime/debug.ReadBuildInfo", "", "cache-compiled", "ask once, when the program starts", Nothing},
	{"net.ParseCIDR", "", "avoid-conversion", "use netip.ParsePrefix and Masked, whose values need no memory", Nothing},
	{"net.ParseIP", "net/netip.", "skip-work", "look at the last byte first: what ends neither with a hexadecimal digit nor with a colon is no address, and the call allocates for its error", Failed},
	{"net.ParseIP", "", "avoid-conversion", "use netip.ParseAddr and Unmap, whose result is a value: it takes zones, too", Nothing},
	{"net.IPv4", "", "avoid-conversion", "use netip.AddrFrom4, whose value needs no memory", Nothing},
	{"net.IP.To16", "", "avoid-conversion", "use To4, or netip.AddrFromSlice, whose value needs no memory: of four bytes it makes a new slice", Nothing},
	{"net.IP.Mask", "", "avoid-conversion", "use netip.Prefix and Masked, whose values need no memory", Nothing},

	// Reflection.
	{"reflect.Append*", "", "presize-slice", "use reflect.MakeSlice with the final length where that is known, else Grow, SetLen and Index of an addressable slice: Append makes a new header each time", Result},
	{"reflect.Value.MapKeys", "", "reuse-buffer", "go through the map with MapRange, and set one key with SetIterKey", Nothing},
	{"reflect.(*MapIter).Key", "", "reuse-buffer", "make one value before the loop, and set it with SetIterKey", Nothing},
	{"reflect.(*MapIter).Value", "", "reuse-buffer", "make one value before the loop, and set it with SetIterValue", Nothing},
	{"reflect.Value.MapIndex", "reflect.", "reuse-buffer", "go through the map with MapRange, and set one value with SetIterValue", Nothing},
	{"reflect.New", "reflect.", "reuse-buffer", "make one value, and set it to zero with SetZero before each use", Nothing},
	{"reflect.Value.Slice*", "reflect.Value.Slice", "reuse-buffer", "use Index with an offset, or SetLen of a slice that can be addressed: it makes a header each time", Nothing},
	{"reflect.Value.Interface", "reflect.", "unbox-interface", "ask the kind and use Int, String and the like, or reflect.TypeAssert (Go 1.25): of a value that can be addressed it makes a copy", Nothing},

	// Calls that allocate only for their errors, and media types without parameters.
	{"strconv.Parse*", "", "skip-work", onlyErrors, Failed},
	{"strconv.Atoi", "", "skip-work", onlyErrors, Failed},
	{"time.ParseDuration", "", "skip-work", onlyErrors, Failed},
	{"net/netip.Parse*", "", "skip-work", onlyErrors, Failed},
	{"net.SplitHostPort", "", "skip-work", onlyErrors, Failed},
	{"time.Parse*", "time.newParseError", "skip-work", commonLayout, Failed},
	{"time.Parse*", "internal/stringslite.Clone", "skip-work", commonLayout, Failed},
	{"mime.ParseMediaType", "", "skip-work", "look for a semicolon first: without one the type needs trimming and lower case, and no map", Nothing},
	{"mime.FormatMediaType", "", "skip-work", "take the type as it is where there are no parameters", Nothing},
	{"google.golang.org/grpc/metadata.FromIncomingContext", "", "skip-work", "ask ValueFromIncomingContext for the keys that are needed: this copies all of them", Nothing},
	{"go.opentelemetry.io/otel/trace.WithAttributes", "", "skip-work", "make the attributes only where the span is recording (IsRecording): of one that is started, set them after Start, if no sampler asks for them", Nothing},
	{"path/filepath.Walk", "", "skip-work", "use WalkDir where only names and kinds are asked: it asks for no file information", Nothing},
	{"net/url.(*URL).Query", "", "skip-work", "keep the Values, or look for the one key in RawQuery: each call parses the whole query into a map", Nothing},
	{"io/ioutil.ReadDir", "", "skip-work", "use os.ReadDir where only names and kinds are asked: it asks for no file information", Nothing},
	{"os.(*File).Readdir", "", "skip-work", "use ReadDir where only names and kinds are asked: it asks for no file information", Nothing},

	// State that is created for every use.
	{"image/png.Encode", "", "pool-object", "use a png.Encoder with a BufferPool, which keeps its zlib.Writer and its buffers", Nothing},
	{"image/png.(*Encoder).Encode", "", "pool-object", "give the png.Encoder a BufferPool, which keeps its zlib.Writer and its buffers", Nothing},
	{"compress/flate.New*", "", "pool-object", pooledStream, Nothing},
	{"compress/gzip.New*", "", "pool-object", pooledStream, Nothing},
	{"compress/zlib.New*", "", "pool-object", pooledStream, Nothing},
	{"compress/lzw.New*", "", "pool-object", pooledStream, Nothing},
	{"compress/*.(*Writer).*", "", "pool-object", "keep the writer in a pool and Reset it: it makes its tables with its first Write", Nothing},
	{"compress/*.(*Reader).*", "", "pool-object", "keep the reader in a pool and Reset it", Nothing},
	{"github.com/klauspost/compress/gzip.New*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/flate.New*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/zlib.New*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/s2.NewReader*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/s2.NewWriter*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/snappy.New*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/zstd.New*", "", "pool-object", "keep one encoder and decoder for EncodeAll and DecodeAll, which may be called concurrently, and Reset those of streams", Nothing},
	{"github.com/klauspost/compress/*.(*Writer).*", "", "pool-object", "keep the writer in a pool and Reset it: it makes its tables with its first Write", Nothing},
	{"github.com/golang/snappy.New*", "", "pool-object", pooledStream, Nothing},
	{"github.com/klauspost/compress/flate.StatelessDeflate", "", "pool-object", "use a release that keeps its tables in a pool, or write through a flate.Writer from a pool, with Reset and Flush", Nothing},
	{"encoding/json.NewDecoder", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal, which takes one value and nothing after it", Nothing},
	{"encoding/json.(*Decoder).Decode", "encoding/json.(*Decoder).refill", "pool-buffer", "read into a pooled buffer and use json.Unmarshal, which takes one value and nothing after it", Values},
	{"encoding/json.(*Decoder).Decode", "", "pool-buffer", "read into a pooled buffer and use json.Unmarshal, which needs no decoder, and takes one value and nothing after it", Values},
	{"encoding/json.Marshal", "encoding/json.Marshal", "pool-buffer", "use json.NewEncoder on a pooled bytes.Buffer, which adds a newline: Marshal copies its result into a new slice", Nothing},
	{"encoding/json.MarshalIndent", "encoding/json.Marshal", "pool-buffer", "encode with json.NewEncoder into a pooled bytes.Buffer, which adds a newline, and json.Indent that into another", Nothing},
	{"encoding/gob.New*", "", "pool-object", "keep the encoder or decoder of a stream: it sends a type once, and keeps what it compiled", Nothing},
	{"encoding/csv.NewReader", "bufio.", "pool-object", "hand it a bufio.Reader from a pool, which it reads through as it is", Nothing},
	{"encoding/csv.(*Reader).ReadAll", "", "reuse-buffer", "read record by record with Read, and set ReuseRecord, where they are gone through one by one", Values},
	{"encoding/csv.(*Reader).Read", "", "reuse-buffer", "set ReuseRecord", Values},
	{"encoding/xml.(*Decoder).DecodeElement", "", "avoid-conversion", "read the element's tokens and set the fields by hand: it decodes by reflection", Values},
	{"encoding/csv.NewWriter", "bufio.", "pool-object", "hand it a bufio.Writer from a pool, which it writes to as it is", Nothing},
	{"encoding/xml.NewDecoder", "bufio.", "pool-object", pooledReader, Nothing},
	{"encoding/xml.NewEncoder", "bufio.", "pool-object", pooledWriter, Nothing},
	{"encoding/xml.Marshal*", "bufio.", "pool-object", "encode with xml.NewEncoder onto a bufio.Writer from a pool: it makes a writer of 4 KiB each time", Nothing},
	{"mime/quotedprintable.NewReader", "bufio.", "pool-object", pooledReader, Nothing},
	{"image.Decode*", "bufio.", "pool-object", pooledReader, Nothing},
	{"text/tabwriter.NewWriter", "", "pool-object", "keep the writer in a pool and Init it again", Nothing},
	{"bufio.NewReader*", "", "pool-object", "keep readers in a pool and Reset them", Nothing},
	{"bufio.NewWriter*", "", "pool-object", "keep writers in a pool and Reset them", Nothing},
	{"bufio.NewScanner", "", "reuse-buffer", "give the scanner a reused buffer with Buffer(b, bufio.MaxScanTokenSize), which keeps the limit", Nothing},
	{"bufio.(*Scanner).Scan", "", "reuse-buffer", "give the scanner a reused buffer with Buffer(b, bufio.MaxScanTokenSize), which keeps the limit", Nothing},
	{"bufio.(*Scanner).Text", "", "avoid-conversion", "use Bytes where the line is not kept", Result},
	{"bufio.(*Reader).ReadString", "", "avoid-conversion", "use ReadSlice where the line is not kept, and go on with ReadString after bufio.ErrBufferFull", Result},
	{"bufio.(*Reader).ReadBytes", "", "reuse-buffer", "use ReadSlice where the line is not kept, and go on with ReadBytes after bufio.ErrBufferFull", Nothing},
	{"io.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", Nothing},
	{"io/ioutil.ReadAll", "", "pool-buffer", "read into a pooled bytes.Buffer with ReadFrom", Nothing},
	{"io.CopyN", "io.LimitReader", "skip-work", limitedCopy, Nothing},
	{"io.CopyN", "io.CopyN", "skip-work", limitedCopy, Nothing},
	{"io.CopyN", "io.copyBuffer", "pool-buffer", "keep an io.LimitedReader, and copy from it with io.CopyBuffer and a pooled buffer", Nothing},
	{"io.Copy", "io.copyBuffer", "pool-buffer", "use io.CopyBuffer with a pooled buffer", Nothing},
	{"io.LimitReader", "", "reuse-buffer", "keep an io.LimitedReader and set its fields", Nothing},
	{"io/ioutil.ReadFile", "os.readFileContents", "pool-buffer", "open the file and read into a pooled buffer", Nothing},
	{"io/ioutil.ReadFile", "os.ReadFile", "pool-buffer", "open the file and read into a pooled buffer", Nothing},
	{"os.ReadFile", "os.readFileContents", "pool-buffer", "open the file and read into a pooled buffer", Nothing},
	{"os.ReadFile", "os.ReadFile", "pool-buffer", "open the file and read into a pooled buffer", Nothing},
	{"crypto.Hash.New", "", "pool-object", "keep hashes of each kind in a pool, and Reset them", Nothing},
	{"crypto/sha3.NewCSHAKE*", "", "pool-object", pooledHash, Nothing},
	{"crypto/sha3.NewSHAKE*", "", "pool-object", "use the package's SumSHAKE functions where the bytes are there at once, or keep hashes in a pool and Reset them", Nothing},
	{"crypto/sha*.New*", "", "pool-object", sumOrPool, Nothing},
	{"crypto/md5.New", "", "pool-object", sumOrPool, Nothing},
	{"hash/fnv.New*", "", "avoid-conversion", "compute the hash in a loop of two lines, or keep its type concrete: it is on the heap only as a hash.Hash", Nothing},
	{"hash/crc32.New*", "", "pool-object", "use the package's Checksum function where the bytes are there at once, or keep hashes in a pool and Reset them", Nothing},
	{"hash/crc64.New*", "", "pool-object", "use the package's Checksum function where the bytes are there at once, or keep hashes in a pool and Reset them", Nothing},
	{"hash/adler32.New*", "", "pool-object", "use the package's Checksum function where the bytes are there at once, or keep hashes in a pool and Reset them", Nothing},
	{"crypto/hmac.New", "", "pool-object", "keep one for each key in a pool and Reset it: it hashes the key again each time", Nothing},
	{"crypto/aes.NewCipher", "", "pool-object", onceForKey, Nothing},
	{"crypto/cipher.NewGCM*", "", "pool-object", onceForKey, Nothing},
	{"golang.org/x/crypto/chacha20poly1305.New*", "", "pool-object", onceForKey, Nothing},
	{"golang.org/x/crypto/blake2*.New*", "", "pool-object", sumOrPool, Nothing},
	{"golang.org/x/crypto/sha3.NewLegacyKeccak*", "", "pool-object", pooledHash, Nothing},
	{"golang.org/x/crypto/sha3.NewCShake*", "", "pool-object", pooledHash, Nothing},
	{"golang.org/x/crypto/sha3.NewShake*", "", "pool-object", "use the package's ShakeSum functions where the bytes are there at once, or keep hashes in a pool and Reset them", Nothing},
	{"golang.org/x/crypto/sha3.New*", "", "pool-object", sumOrPool, Nothing},
	{"github.com/cespare/xxhash*.New", "", "pool-object", "use the package's Sum function where the bytes are there at once, or keep digests in a pool and Reset them", Nothing},
	{"math/rand*.New", "", "pool-object", "use the package's top-level functions where the numbers need no seed, or keep the source and Seed it again: it is not safe for concurrent use", Nothing},
	{"math/rand*.NewSource", "", "pool-object", "use the package's top-level functions where the numbers need no seed, or keep the source and Seed it again: it is not safe for concurrent use", Nothing},
	{"math/rand*.NewPCG", "", "pool-object", "use the package's top-level functions where the numbers need no seed, or keep the source and Seed it again: it is not safe for concurrent use", Nothing},
	{"math/rand*.NewChaCha8", "", "pool-object", "use the package's top-level functions where the numbers need no seed, or keep the source and Seed it again: it is not safe for concurrent use", Nothing},
	{"time.After", "", "reuse-buffer", "make one timer with time.NewTimer before the loop and Reset it", Nothing},
	{"time.NewTimer", "", "reuse-buffer", "keep one timer and Reset it", Nothing},
	{"time.NewTicker", "", "reuse-buffer", "keep one ticker and Reset it", Nothing},
	{"time.AfterFunc", "", "reuse-buffer", "keep one timer and Reset it: it calls the same function again", Nothing},
	{"bytes.(*Buffer).String", "", "avoid-conversion", "build the text in a strings.Builder, whose String does not copy, and Grow it first: it begins with less room than a Buffer", Handed},
	{"bytes.(*Buffer).ReadString", "", "avoid-conversion", "use Next with the length that bytes.IndexByte finds, where the line is not kept", Result},
	{"bytes.(*Buffer).ReadBytes", "", "reuse-buffer", "use Next with the length that bytes.IndexByte finds, where the line is not kept", Nothing},
	{"bytes.(*Buffer).*", "", "presize-builder", "Grow the buffer once to its final size, or take it from a pool", Result},
	{"bytes.NewBufferString", "", "avoid-conversion", "use strings.NewReader: it makes no copy of the text", Nothing},
	{"bytes.NewBuffer", "", "pool-buffer", "take the buffer from a pool", Nothing},
	{"bytes.NewReader", "", "reuse-buffer", "keep the reader and Reset it", Nothing},
	{"strings.NewReader", "", "reuse-buffer", "keep the reader and Reset it", Nothing},
	{"net/http.Header.*", "net/textproto.canonical", "avoid-conversion", "write the key in its canonical form (X-Request-Id): another one is converted to a new string in each call", Nothing},
	{"net/textproto.MIMEHeader.*", "net/textproto.canonical", "avoid-conversion", "write the key in its canonical form (X-Request-Id): another one is converted to a new string in each call", Nothing},
	{"net/textproto.CanonicalMIMEHeaderKey", "net/textproto.canonical", "avoid-conversion", "write the key in its canonical form (X-Request-Id): another one is converted to a new string in each call", Nothing},
	{"net/http.CanonicalHeaderKey", "net/textproto.canonical", "avoid-conversion", "write the key in its canonical form (X-Request-Id): another one is converted to a new string in each call", Nothing},

	{"encoding/binary.Read", "", "avoid-conversion", "read into bytes that are used again, and take the numbers out with the byte order's Uint16, Uint32 and Uint64", Nothing},
	{"encoding/binary.Write", "", "avoid-conversion", "put the numbers into bytes that are used again with the byte order's PutUint16, PutUint32 and PutUint64, and write once", Nothing},

	// Text that is created only to be discarded.
	{"strings.(*Builder).*", "", "presize-builder", "Grow the builder once to its final size", Result},
	{"fmt.Sprint*", "", "avoid-conversion", "print to where the text goes with fmt.Fprint…, append to a byte slice, or concatenate", Result},
	{"fmt.Fprint*", "", "avoid-conversion", "append the parts with strconv.Append… to bytes that are used again (of a bufio.Writer or bytes.Buffer: its AvailableBuffer), and write them at once", Nothing},
	{"io.WriteString", "io.WriteString", "avoid-conversion", "write bytes from a buffer that is used again, or give the writer a method WriteString: without one each call converts the text", Nothing},
	{"fmt.Append*", "", "avoid-conversion", "append the parts with strconv.Append…", Result},
	{"fmt.Errorf", "", "skip-work", "make the error where it is reported only, or use a typed error that formats itself when it is printed", Nothing},
	{"fmt.Sscan*", "", "avoid-conversion", "parse with strconv", Nothing},
	{"fmt.Fscan*", "", "avoid-conversion", "read with a bufio.Scanner, where nothing else reads there, and parse with strconv", Nothing},
	{"strings.Split", "", "avoid-conversion", "use strings.Cut or IndexByte, part by part, or strings.SplitSeq (Go 1.24) where the compiler inlines it", Nothing},
	{"strings.SplitN", "", "avoid-conversion", "use strings.Cut or IndexByte, part by part", Nothing},
	{"strings.SplitAfter", "", "avoid-conversion", "use IndexByte for one part, strings.SplitAfterSeq (Go 1.24) for all", Nothing},
	{"strings.SplitAfterN", "", "avoid-conversion", "use IndexByte, part by part", Nothing},
	{"strings.Fields", "", "avoid-conversion", "use strings.FieldsSeq (Go 1.24)", Nothing},
	{"strings.FieldsFunc", "", "avoid-conversion", "use strings.FieldsFuncSeq (Go 1.24)", Nothing},
	{"bytes.Split", "", "avoid-conversion", "use bytes.Cut or IndexByte, part by part, or bytes.SplitSeq (Go 1.24) where the compiler inlines it", Nothing},
	{"bytes.SplitN", "", "avoid-conversion", "use bytes.Cut or IndexByte, part by part", Nothing},
	{"bytes.SplitAfter", "", "avoid-conversion", "use IndexByte for one part, bytes.SplitAfterSeq (Go 1.24) for all", Nothing},
	{"bytes.SplitAfterN", "", "avoid-conversion", "use IndexByte, part by part", Nothing},
	{"bytes.Fields", "", "avoid-conversion", "use bytes.FieldsSeq (Go 1.24)", Nothing},
	{"bytes.FieldsFunc", "", "avoid-conversion", "use bytes.FieldsFuncSeq (Go 1.24)", Nothing},
	{"strings.ToLower", "", "avoid-conversion", "compare with strings.EqualFold", Nothing},
	{"strings.ToUpper", "", "avoid-conversion", "compare with strings.EqualFold", Nothing},
	{"bytes.ToLower", "", "avoid-conversion", "compare with bytes.EqualFold", Nothing},
	{"bytes.ToUpper", "", "avoid-conversion", "compare with bytes.EqualFold", Nothing},
	{"bytes.Replace*", "", "avoid-conversion", "ask bytes.Contains first: it copies the text even if nothing is replaced", Handed},
	{"strings.Join", "", "avoid-conversion", "write the parts to where the text goes", Result},
	{"bytes.Join", "", "avoid-conversion", "append the parts to where they go", Result},
	{"strings.ReplaceAll", "", "avoid-conversion", "write the pieces to where the text goes, or use a strings.Replacer's WriteString where that has the method, too", Result},
	{"strings.Replace", "", "avoid-conversion", "write the pieces to where the text goes", Result},
	{"strings.(*Replacer).Replace", "", "avoid-conversion", "use WriteString to where the text goes, if that has the method, too", Result},
	{"strings.Repeat", "", "avoid-conversion", "write the pieces, or keep the longest and slice it", Result},
	{"strings.Map", "", "avoid-conversion", "append the mapped runes to a byte slice", Result},
	{"regexp.(*Regexp).FindStringSubmatch", "", "avoid-conversion", "use FindStringSubmatchIndex and slice the text, or strings.Cut where the expression is fixed text: each match makes two slices", Nothing},
	{"regexp.(*Regexp).FindSubmatch", "", "avoid-conversion", "use FindSubmatchIndex and slice the bytes, or bytes.Cut where the expression is fixed text: each match makes two slices", Nothing},
	{"regexp.(*Regexp).FindAllStringSubmatch", "regexp.(*Regexp).FindAllStringSubmatch", "avoid-conversion", "use FindAllStringSubmatchIndex and slice the text: each match makes a slice of its own", Nothing},
	{"regexp.(*Regexp).FindAllSubmatch", "regexp.(*Regexp).FindAllSubmatch", "avoid-conversion", "use FindAllSubmatchIndex and slice the bytes: each match makes a slice of its own", Nothing},
	{"regexp.(*Regexp).ReplaceAll*", "", "avoid-conversion", askedFirst, Handed},
	{"encoding/json.Unmarshal", "encoding/json.(*decodeState).objectInterface", "avoid-conversion", knownFields, Nothing},
	{"encoding/json.Unmarshal", "encoding/json.(*decodeState).arrayInterface", "avoid-conversion", knownFields, Nothing},
	{"encoding/json.Unmarshal", "encoding/json.(*decodeState).literalInterface", "avoid-conversion", knownFields, Nothing},
	{"encoding/json.Unmarshal", "encoding/json.(*decodeState).valueInterface", "avoid-conversion", knownFields, Nothing},
	{"path.Join", "path.Join", "avoid-conversion", "put the parts together with + where they are clean: Join copies them twice", Result},
	{"net.JoinHostPort", "", "avoid-conversion", "append host, colon and port to where the text goes, with brackets around a host that has a colon", Result},
	{"time.Duration.String", "", "avoid-conversion", "append it to where the text goes: append(b, d.String()...) allocates nothing for it", Result},
	{"strconv.Format*", "", "avoid-conversion", "use strconv.Append… into a buffer", Result},
	{"strconv.Itoa", "", "avoid-conversion", "use strconv.AppendInt into a buffer", Result},
	{"strconv.Quote*", "", "avoid-conversion", sameAppend, Result},
	{"encoding/hex.EncodeToString", "", "avoid-conversion", "use hex.AppendEncode into a buffer", Result},
	{"encoding/hex.DecodeString", "", "avoid-conversion", "use hex.AppendDecode into a buffer", Result},
	{"encoding/base64.NewEncoder", "", "avoid-conversion", encodedAtOnce, Nothing},
	{"encoding/base32.NewEncoder", "", "avoid-conversion", encodedAtOnce, Nothing},
	{"encoding/hex.NewEncoder", "", "avoid-conversion", encodedAtOnce, Nothing},
	{"encoding/base64.(*Encoding).EncodeToString", "", "avoid-conversion", "use AppendEncode into a buffer", Result},
	{"encoding/base64.(*Encoding).DecodeString", "", "avoid-conversion", "use AppendDecode into a buffer", Result},
	{"encoding/base32.(*Encoding).EncodeToString", "", "avoid-conversion", "use AppendEncode into a buffer", Result},
	{"unicode/utf16.Encode", "", "reuse-buffer", "use utf16.AppendRune into a slice that is there", Nothing},
	{"unicode/utf16.Decode", "", "avoid-conversion", "decode rune by rune with utf16.DecodeRune", Nothing},
	{"time.Time.Format", "", "avoid-conversion", "use AppendFormat into a buffer", Result},
	{"time.Time.String", "", "avoid-conversion", "use AppendFormat with a layout of yours into a buffer", Result},
	{"time.Time.MarshalBinary", "", "avoid-conversion", "use AppendBinary (Go 1.24) into a buffer", Result},
	{"time.Time.MarshalText", "", "avoid-conversion", "use AppendText (Go 1.24) into a buffer", Result},
	{"time.Time.MarshalJSON", "", "avoid-conversion", "use AppendText (Go 1.24) between two quotes in a buffer", Result},
	{"html.EscapeString", "", "avoid-conversion", "write it to where the text goes with the WriteString of a strings.Replacer, if that has the method, too: it makes no text of its own", Result},
	{"text/template.HTMLEscapeString", "", "avoid-conversion", "use template.HTMLEscape, which writes to where the text goes", Result},
	{"html/template.HTMLEscapeString", "", "avoid-conversion", "use template.HTMLEscape, which writes to where the text goes", Result},
	{"net/netip.*.String", "", "avoid-conversion", "use AppendTo into a buffer, which appends nothing for an invalid one", Result},
	{"net/netip.*.MarshalBinary", "", "avoid-conversion", "use AppendBinary (Go 1.24) into a buffer", Result},
	{"net/netip.*.MarshalText", "", "avoid-conversion", "use AppendTo into a buffer", Result},
	{"net/netip.Addr.AsSlice", "", "avoid-conversion", "use As4 or As16, whose results are arrays", Nothing},
	{"net.IP.String", "", "avoid-conversion", "use netip.AddrFromSlice and Unmap, and AppendTo into a buffer, where there is an address", Result},
	{"net.IP.MarshalText", "", "avoid-conversion", "use AppendText (Go 1.24) into a buffer", Result},
	{"net.(*UDPAddr).String", "", "avoid-conversion", "use AddrPort, with Unmap of its address, and AppendTo into a buffer, where there is an address", Result},
	{"net.(*TCPAddr).String", "", "avoid-conversion", "use AddrPort, with Unmap of its address, and AppendTo into a buffer, where there is an address", Result},
	{"net.(*UDPConn).ReadFrom", "", "avoid-conversion", "use ReadFromUDPAddrPort and Unmap, whose address is a value", Nothing},
	{"net.(*UDPConn).ReadFromUDP", "", "avoid-conversion", "use ReadFromUDPAddrPort and Unmap, whose address is a value", Nothing},
	{"net.(*UDPConn).ReadMsgUDP", "", "avoid-conversion", "use ReadMsgUDPAddrPort, whose address is a value", Nothing},
	{"bytes.Runes", "", "reuse-buffer", "append what utf8.DecodeRune returns to a []rune of yours, one by one", Nothing},
	{"math/big.(*Int).Bytes", "", "reuse-buffer", "use FillBytes into memory of yours, on the stack where its size is known", Nothing},
	{"math/big.NewInt", "", "reuse-buffer", "set a number that is there", Nothing},
	{"math/big.NewFloat", "", "reuse-buffer", "set a number that is there", Nothing},
	{"math/big.NewRat", "", "reuse-buffer", "set a number that is there", Nothing},
	{"math/big.(*Int).String", "math/big.(*Int).Text", "avoid-conversion", "use Append into a buffer", Result},
	{"math/big.(*Int).Text", "math/big.(*Int).Text", "avoid-conversion", "use Append into a buffer", Result},
	{"math/big.(*Float).Text", "math/big.(*Float).Text", "avoid-conversion", "use Append into a buffer", Result},
	{"math/big.(*Float).String", "math/big.(*Float).Text", "avoid-conversion", "use Append into a buffer", Result},
	{"math/big.(*Int).Add", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Sub", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Mul", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Set*", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Lsh", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Rsh", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Neg", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Abs", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).And", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Or", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Xor", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Int).Quo", "math/big.nat.", "reuse-buffer", keptQuotient, Nothing},
	{"math/big.(*Int).Rem", "math/big.nat.", "reuse-buffer", keptQuotient, Nothing},
	{"math/big.(*Int).Div", "math/big.nat.", "reuse-buffer", keptModulus, Nothing},
	{"math/big.(*Int).Mod", "math/big.nat.", "reuse-buffer", keptModulus, Nothing},
	{"math/big.(*Float).Add", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Float).Sub", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Float).Mul", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/big.(*Float).Set*", "math/big.nat.", "reuse-buffer", keptNumber, Nothing},
	{"math/rand.Perm", "", "reuse-buffer", "fill a slice that is there, and Shuffle it", Nothing},
	{"math/rand.(*Rand).Perm", "", "reuse-buffer", "fill a slice that is there, and Shuffle it", Nothing},
	{"math/rand/v2.Perm", "", "reuse-buffer", "fill a slice that is there, and Shuffle it", Nothing},
	{"math/rand/v2.(*Rand).Perm", "", "reuse-buffer", "fill a slice that is there, and Shuffle it", Nothing},

	// Interfaces in place of types.
	{"sort.SliceStable", "", "unbox-interface", "use slices.SortStableFunc, which takes no interface and no reflection", Nothing},
	{"sort.Slice", "", "unbox-interface", "use slices.SortFunc, which takes no interface and no reflection", Nothing},
	{"sort.Sort", "", "unbox-interface", "use slices.SortFunc", Nothing},
	{"sort.Stable", "", "unbox-interface", "use slices.SortStableFunc", Nothing},
	{"sort.Reverse", "", "unbox-interface", "use slices.SortFunc with the operands of the comparison exchanged", Nothing},
	{"image.(**).At", "", "unbox-interface", "use the method for the image's own type of color, such as RGBAAt", Nothing},
	{"image.(**).Set", "", "unbox-interface", "use the method for the image's own type of color, such as SetRGBA, with a color of that type", Nothing},
	{"image/color.(*modelFunc).Convert", "", "unbox-interface", "compute the values from those of RGBA: it boxes its result", Nothing},
	{"reflect.DeepEqual", "", "unbox-interface", "compare the parts by ==, slices.Equal or maps.Equal, which take no interface", Nothing},
	{"container/heap.*", "", "unbox-interface", "use a heap of the concrete type", Nothing},
	{"container/list.(*List).*", "", "unbox-interface", "keep the values in a slice, or link them by fields of their own: each element is an object, and its value is boxed", Nothing},
	{"slices.Collect", "", "presize-slice", "append into a slice of the final capacity with slices.AppendSeq", Result},
	{"slices.Sorted*", "", "presize-slice", "append into a slice of the final capacity and sort it", Result},
	{"slices.Clone", "", "reuse-buffer", "copy into a slice that is there", Nothing},
	{"bytes.Clone", "", "reuse-buffer", "copy into a slice that is there", Nothing},
	{"slices.Concat", "", "reuse-buffer", "append into a slice that is there", Nothing},
	{"maps.Clone", "", "reuse-buffer", "clear a map that is there, and copy into it with maps.Copy", Nothing},
	{"maps.Collect", "", "presize-map", "fill a map of the final size with maps.Insert", Result},
	{"google.golang.org/protobuf/proto.Marshal", "", "reuse-buffer", "use MarshalOptions.MarshalAppend with memory that is there", Nothing},
	{"github.com/golang/protobuf/proto.Marshal", "", "reuse-buffer", "use MarshalOptions.MarshalAppend of google.golang.org/protobuf/proto, with proto.MessageV2 of the message and memory that is there", Nothing},
	{"github.com/golang/snappy.Encode", "", "reuse-buffer", "hand it memory of MaxEncodedLen bytes that is there", Nothing},
	{"github.com/golang/snappy.Decode", "", "reuse-buffer", "hand it memory of DecodedLen bytes that is there", Nothing},
	{"sync.(*Pool).Get", "", "pool-misuse", "", Nothing},
	{"runtime.SetFinalizer", "", "finalizer-cost", "", Nothing},
	{"runtime.AddCleanup*", "", "finalizer-cost", "", Nothing},
	{"log/slog.(*Logger).Debug*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.Debug*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.(*Logger).Info*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.Info*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.(*Logger).Warn*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.Warn*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.(*Logger).Error*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.Error*", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.(*Logger).Log", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.Log", "", "unbox-interface", typedLog, Nothing},
	{"log/slog.(*Logger).With", "", "unbox-interface", fieldsOfCall, Nothing},
	{"go.uber.org/zap.(*Logger).With", "", "unbox-interface", fieldsOfCall, Nothing},
	{"github.com/sirupsen/logrus.WithField*", "", "skip-work", leveledLog, Nothing},
	{"github.com/sirupsen/logrus.(*Logger).WithField*", "", "skip-work", leveledLog, Nothing},
	{"github.com/sirupsen/logrus.(*Entry).WithField*", "", "skip-work", leveledLog, Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Debug*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Info*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Warn*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Error*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).DPanic*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Panic*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"go.uber.org/zap.(*SugaredLogger).Fatal*", "", "unbox-interface", "use the Logger with zap.Int, zap.String and the like, which box nothing", Nothing},
	{"runtime/debug.Stack", "", "skip-work", "take the stack where it is reported only", Nothing},
	{"runtime.Caller", "", "skip-work", "take the program counter pc into an array with runtime.Callers, and ask runtime.FuncForPC(pc-1).FileLine: neither allocates", Nothing},
	{"github.com/pkg/errors.*", "github.com/pkg/errors.callers", "skip-work", "make errors with errors.New and fmt.Errorf of the standard library where nobody prints the stack: it is recorded for each", Nothing},
	{"runtime.CallersFrames", "", "skip-work", "take program counters into an array and resolve them where they are printed", Nothing},
}

// Codes are those of the cures that entries name, each once.
func Codes() []string {
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Code] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// writing are functions that write to what they are handed. Memory that its methods make is not theirs.
var writing = []string{"fmt.Fprint", "encoding/binary.Write"}

// Writes reports whether a function writes to its first argument: of its results, people look at the error alone.
func Writes(function string) bool {
	return slices.ContainsFunc(writing, func(p string) bool { return strings.HasPrefix(function, p) })
}

// ofWriter reports whether the innermost function of a stack is a method of a writer of the standard library.
func ofWriter(leaf string) bool {
	return slices.ContainsFunc([]string{"bytes.", "bufio.", "strings.", "io.", "os.", "net.", "net/", "compress/"}, func(p string) bool { return strings.HasPrefix(leaf, p) })
}

// Find is the entry of a function, given the innermost function of the stack; nil for none.
func Find(function, leaf string) *Entry {
	if function == "" || ofWriter(leaf) && Writes(function) {
		return nil
	}
	for i := range entries {
		e := &entries[i]
		if matchPattern(e.Function, function) && strings.HasPrefix(leaf, e.Leaf) {
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
