package life

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// contract is what a call that is not read does with memory that it is given, by its
// documentation.
type contract int8

const (
	drops   contract = iota // looks at it, and keeps nothing after it has returned
	passes                  // the result refers to it
	fills                   // the receiver or first argument refers to it from now on
	keeps                   // something that outlives the call refers to it
	chains                  // the result is the receiver; the other arguments are only looked at
	unpacks                 // the result refers to elements of the slice, not to its array
)

// contractRule gives the contract of functions of the standard library: of the first
// pattern that the name begins with.
type contractRule struct {
	prefix   string
	contract contract
}

// contracts are facts of the packages' documentation and source.
var contracts = []contractRule{
	// Results that refer to the argument.
	{"bytes.NewBuffer", passes},
	{"bytes.NewReader", passes},
	{"bytes.(*Buffer).Bytes", passes},
	{"bytes.(*Buffer).Next", passes},
	{"bytes.(*Buffer).AvailableBuffer", passes},
	{"bytes.(*Buffer).", drops}, // what is written is copied; its own memory is that of the receiver
	{"bytes.(*Reader).Reset", fills},
	{"strings.NewReader", passes},
	{"strings.(*Reader).Reset", fills},
	{"strings.(*Builder).String", passes},
	{"strings.(*Builder).", drops},
	{"strings.NewReplacer", passes},
	{"strings.Clone", drops},
	{"strings.Join", unpacks}, // the only element itself
	{"bytes.Join", drops},
	{"bytes.Clone", drops},
	{"bytes.Equal", drops},
	{"bytes.Compare", drops},
	{"strings.Compare", drops},
	{"strings.", passes}, // parts of the text, or the text itself where nothing changes
	{"bytes.", passes},
	{"unicode/utf8.Append", passes},
	{"unicode", drops},
	{"strconv.Append", passes},
	{"strconv.Unquote", passes},
	{"strconv.", drops},
	{"fmt.Append", passes},
	{"fmt.Errorf", passes}, // %w keeps the error
	{"fmt.", drops},
	{"errors.Is", drops},
	{"errors.", passes},
	{"slices.Contains", drops},
	{"slices.Index", drops},
	{"slices.Sort", drops},
	{"slices.BinarySearch", drops},
	{"slices.Equal", drops},
	{"slices.Clone", unpacks},
	{"slices.Concat", unpacks},
	{"slices.", passes},
	{"maps.", passes},
	{"sort.", drops},
	{"cmp.", drops},
	{"container/list.(*List).Push", fills},
	{"container/list.(*List).Insert", fills},
	{"container/list.(*List).Move", drops},
	{"container/list.", passes},
	{"container/heap.Push", fills},
	{"container/heap.Fix", drops},
	{"container/heap.Init", drops},
	{"container/", passes},
	{"hash", drops},
	{"crypto/sha", drops},
	{"crypto/md5.", drops},
	{"crypto/subtle.", drops},
	{"crypto/hmac.", drops}, // the key is hashed or copied
	{"crypto/aes.NewCipher", drops},
	{"crypto/des.New", drops},
	{"crypto/cipher.New", passes}, // the block; initial vectors are copied
	{"crypto/rand.", drops},
	{"crypto/ed25519.", drops},
	{"encoding/hex.Append", passes},
	{"encoding/base64.(*Encoding).Append", passes},
	{"encoding/binary.Append", passes},
	{"encoding/hex.NewEncoder", passes},
	{"encoding/hex.", drops},
	{"encoding/base64.NewEncoder", passes},
	{"encoding/base64.NewDecoder", passes},
	{"encoding/base64.(", drops},
	{"encoding/base32.New", passes},
	{"encoding/base32.(*Encoding).Append", passes},
	{"encoding/base32.(", drops},
	{"encoding/binary.", drops},
	{"encoding/json.New", passes},
	{"encoding/json.(*Encoder).Encode", drops},
	{"encoding/json.(*Decoder).Decode", drops},
	{"encoding/json.", drops},
	{"encoding/xml.New", passes},
	{"encoding/xml.(*Encoder).", drops},
	{"encoding/xml.(*Decoder).Decode", drops},
	{"encoding/xml.(*Decoder).", passes}, // tokens refer to the decoder's buffer
	{"encoding/xml.", drops},
	{"encoding/gob.New", passes},
	{"encoding/gob.(*Encoder).", drops},
	{"encoding/gob.(*Decoder).", drops},
	{"encoding/csv.New", passes},
	{"encoding/csv.(*Writer).", drops},
	{"encoding/csv.(*Reader).Read", passes}, // with ReuseRecord, the record is the reader's
	{"compress/flate.New", passes},
	{"compress/flate.(*Writer).Reset", fills},
	{"compress/flate.(*Writer).", drops},
	{"compress/gzip.New", passes},
	{"compress/gzip.(*Writer).Reset", fills},
	{"compress/gzip.(*Writer).", drops},
	{"compress/gzip.(*Reader).Reset", fills},
	{"compress/gzip.(*Reader).", drops},
	{"compress/zlib.New", passes},
	{"compress/zlib.(*Writer).Reset", fills},
	{"compress/zlib.(*Writer).", drops},
	{"bufio.New", passes},
	{"bufio.(*Writer).Reset", fills},
	{"bufio.(*Reader).Reset", fills},
	{"bufio.(*Writer).AvailableBuffer", passes},
	{"bufio.(*Writer).", drops},
	{"bufio.(*Reader).Peek", passes},
	{"bufio.(*Reader).ReadSlice", passes},
	{"bufio.(*Reader).ReadLine", passes},
	{"bufio.(*Reader).", drops},
	{"bufio.(*Scanner).Bytes", passes},
	{"bufio.(*Scanner).Buffer", fills},
	{"bufio.(*Scanner).Split", fills},
	{"bufio.(*Scanner).", drops},
	{"io.ReadAll", drops},
	{"io.ReadFull", drops},
	{"io.ReadAtLeast", drops},
	{"io.Copy", drops},
	{"io.WriteString", drops},
	{"io.", passes},
	{"regexp.(*Regexp).Match", drops},
	{"regexp.(*Regexp).", passes},
	{"regexp.", drops},
	{"time.(Time).", drops},
	{"time.Time.In", passes}, // the location
	{"time.Time.", drops},
	{"time.Date", passes},
	{"time.Duration.", drops},
	{"time.LoadLocation", drops},
	{"time.AfterFunc", keeps},
	{"time.Parse", drops},
	{"time.(*Timer).", drops},
	{"time.(*Ticker).", drops},
	{"net/textproto.CanonicalMIMEHeaderKey", passes},
	{"net/textproto.Trim", passes},
	{"net/textproto.MIMEHeader.Get", passes},
	{"net/textproto.MIMEHeader.Values", passes},
	{"net/textproto.MIMEHeader.Del", drops},
	{"net/textproto.MIMEHeader.", fills},
	{"net/http.CanonicalHeaderKey", passes},
	{"net/http.Header.Get", passes},
	{"net/http.Header.Values", passes},
	{"net/http.Header.Del", drops},
	{"net/http.Header.Clone", passes},
	{"net/http.Header.Write", drops},
	{"net/http.Header.", fills},
	{"net/http.StatusText", drops},
	{"net/url.", passes},
	{"net.JoinHostPort", drops},
	{"net.SplitHostPort", passes},
	{"net.Parse", drops},
	{"net.IP.", passes},
	{"net.(*conn).", drops},
	{"net/netip.", passes},
	{"html.", passes},
	{"mime.FormatMediaType", drops},
	{"mime.", passes},
	{"path.", passes},
	{"path/filepath.", passes},
	{"math/big.(*Int).SetBits", fills},
	{"math/big.(*Int).Cmp", drops},
	{"math/big.(*", chains},
	{"math/big.", drops},
	{"reflect.DeepEqual", drops},
	{"reflect.TypeOf", drops},
	{"reflect.Value.Set", keeps},
	{"reflect.Value.Type", drops},
	{"reflect.Value.Kind", drops},
	{"reflect.", passes},
	{"os.", drops},
	{"internal/bytealg.", drops},
	{"sync.(*Pool).Put", keeps},
	{"sync.(*Mutex).", drops},
	{"sync.(*RWMutex).", drops},
	{"sync.(*WaitGroup).", drops},
	{"sync.(*Pool).Get", drops},
	{"sync.(*Map).LoadOrStore", keeps},
	{"sync.(*Map).Load", drops},
	{"sync.(*Map).Delete", drops},
	{"sync.NewCond", passes},
	{"sync.(*Cond).", drops},
	{"sync.(*Once).", drops},
	{"sync/atomic.Load", drops},
	{"sync/atomic.Add", drops},
	{"sync/atomic.CompareAndSwapInt", drops},
	{"sync/atomic.CompareAndSwapUint", drops},
	{"sync/atomic.StoreInt", drops},
	{"sync/atomic.StoreUint", drops},
	{"sync/atomic.SwapInt", drops},
	{"sync/atomic.SwapUint", drops},
	{"sync/atomic.(*Int", drops},
	{"sync/atomic.(*Uint", drops},
	{"sync/atomic.(*Bool", drops},
	{"sync/atomic.(*Pointer).Load", passes},
	{"sync/atomic.(*Value).Load", passes},
	{"sync/atomic.", keeps},
	{"sync.(*Map).", keeps},
	{"context.With", passes},
	{"runtime.KeepAlive", drops},
	{"runtime.CallersFrames", passes},
	{"runtime.(*Frames).", drops}, // of its strings, none is in the slice
	{"runtime.Callers", drops},
	{"math/rand.New", passes},
	{"math/rand/v2.New", passes},
	{"math/rand", drops},
	{"text/template.(*Template).Execute", drops},
	{"html/template.(*Template).Execute", drops},
	{"log.(*Logger).", drops},
	{"log.", drops},
	{"testing.", drops},
}

// shape is the types of a method's parameters and results.
type shape struct {
	method, params, results string
}

// methodContracts are those of interfaces of the standard library, whose documentation says
// what an implementation may do with its arguments. They hold by name and types, because
// other interfaces embed these or repeat them.
var methodContracts = map[shape]contract{
	{"Write", "([]byte)", "(int, error)"}:          drops,
	{"WriteString", "(string)", "(int, error)"}:    drops,
	{"WriteByte", "(byte)", "(error)"}:             drops,
	{"Read", "([]byte)", "(int, error)"}:           drops,
	{"ReadAt", "([]byte, int64)", "(int, error)"}:  drops,
	{"WriteAt", "([]byte, int64)", "(int, error)"}: drops,
	{"Error", "()", "(string)"}:                    passes,
	{"String", "()", "(string)"}:                   passes,
	{"Len", "()", "(int)"}:                         drops,
	{"Less", "(int, int)", "(bool)"}:               drops,
	{"Swap", "(int, int)", "()"}:                   drops,
	{"Push", "(any)", "()"}:                        fills, // of a heap
	{"Pop", "()", "(any)"}:                         passes,
	{"Close", "()", "(error)"}:                     drops,
	{"Flush", "()", "(error)"}:                     drops,
	{"Seek", "(int64, int)", "(int64, error)"}:     drops,
	{"ReadByte", "()", "(byte, error)"}:            drops,
	{"UnreadByte", "()", "(error)"}:                drops,
	{"ReadRune", "()", "(rune, int, error)"}:       drops,
	{"ReadFrom", "(io.Reader)", "(int64, error)"}:  drops,
	{"WriteTo", "(io.Writer)", "(int64, error)"}:   drops,
	{"Reset", "(io.Writer)", "()"}:                 fills,
	{"Reset", "(io.Reader, []byte)", "(error)"}:    fills,
	{"Size", "()", "(int64)"}:                      drops,
	{"Size", "()", "(int)"}:                        drops,
	{"BlockSize", "()", "(int)"}:                   drops,
	{"Name", "()", "(string)"}:                     passes,
	{"Lock", "()", "()"}:                           drops,
	{"Unlock", "()", "()"}:                         drops,
	{"WriteRune", "(rune)", "(int, error)"}:        drops,
	{"UnreadRune", "()", "(error)"}:                drops,
	{"Unwrap", "()", "(error)"}:                    passes,
	{"Is", "(error)", "(bool)"}:                    drops,
	{"Timeout", "()", "(bool)"}:                    drops,
	{"Temporary", "()", "(bool)"}:                  drops,
	// context: a key is only compared, and the value is the context's.
	{"Value", "(any)", "(any)"}:                                passes,
	{"Err", "()", "(error)"}:                                   passes,
	{"Done", "()", "(<-chan struct{})"}:                        drops,
	{"Deadline", "()", "(time.Time, bool)"}:                    drops,
	{"Reset", "()", "()"}:                                      drops, // of a hash, a buffer, a message
	{"Sum32", "()", "(uint32)"}:                                drops,
	{"Sum64", "()", "(uint64)"}:                                drops,
	{"Int63", "()", "(int64)"}:                                 drops,
	{"Uint64", "()", "(uint64)"}:                               drops,
	{"NonceSize", "()", "(int)"}:                               drops,
	{"Overhead", "()", "(int)"}:                                drops,
	{"SetDeadline", "(time.Time)", "(error)"}:                  drops,
	{"SetReadDeadline", "(time.Time)", "(error)"}:              drops,
	{"SetWriteDeadline", "(time.Time)", "(error)"}:             drops,
	{"LocalAddr", "()", "(net.Addr)"}:                          passes,
	{"RemoteAddr", "()", "(net.Addr)"}:                         passes,
	{"Network", "()", "(string)"}:                              passes,
	{"WriteTo", "([]byte, net.Addr)", "(int, error)"}:          drops,
	{"ReadFrom", "([]byte)", "(int, net.Addr, error)"}:         drops,
	{"Header", "()", "(net/http.Header)"}:                      passes,
	{"WriteHeader", "(int)", "()"}:                             drops,
	{"Flush", "()", "()"}:                                      drops,
	{"Enabled", "(context.Context, log/slog.Level)", "(bool)"}: drops,
	{"Format", "(fmt.State, rune)", "()"}:                      drops,
	{"Width", "()", "(int, bool)"}:                             drops,
	{"Precision", "()", "(int, bool)"}:                         drops,
	{"Flag", "(int)", "(bool)"}:                                drops,
	{"Scan", "(any)", "(error)"}:                               drops, // database/sql: a Scanner copies what it keeps
	// crypto/cipher: AEAD appends to its first argument, the others fill it.
	{"Seal", "([]byte, []byte, []byte, []byte)", "([]byte)"}:        passes,
	{"Open", "([]byte, []byte, []byte, []byte)", "([]byte, error)"}: passes,
	{"Encrypt", "([]byte, []byte)", "()"}:                           drops,
	{"Decrypt", "([]byte, []byte)", "()"}:                           drops,
	{"CryptBlocks", "([]byte, []byte)", "()"}:                       drops,
	{"XORKeyStream", "([]byte, []byte)", "()"}:                      drops,
	// "must copy the text [or data] if it wishes to retain" it, say encoding and encoding/json.
	{"UnmarshalText", "([]byte)", "(error)"}:        drops,
	{"UnmarshalBinary", "([]byte)", "(error)"}:      drops,
	{"UnmarshalJSON", "([]byte)", "(error)"}:        drops,
	{"MarshalText", "()", "([]byte, error)"}:        passes,
	{"MarshalBinary", "()", "([]byte, error)"}:      passes,
	{"MarshalJSON", "()", "([]byte, error)"}:        passes,
	{"AppendText", "([]byte)", "([]byte, error)"}:   passes,
	{"AppendBinary", "([]byte)", "([]byte, error)"}: passes,
}

// serves is the shape of net/http.Handler's method. The ResponseWriter may not be used after it has
// returned; of the Request, the documentation says no such thing.
var serves = shape{"ServeHTTP", "(net/http.ResponseWriter, *net/http.Request)", "()"}

// sums is the shape of hash.Hash's method that appends the sum to its argument.
var sums = shape{"Sum", "([]byte)", "([]byte)"}

// sumOf is what Sum does with its receiver or its argument: the result refers to the argument alone.
func sumOf(c *ssa.CallCommon, v ssa.Value) contract {
	if argument(c, 0) == v {
		return drops
	}
	return passes
}

// twins begins the paths of packages that stand in for those of the standard library with the same names.
const twins = "github.com/klauspost/"

// contractOf is the contract of a call that is not followed into its callee, for one of its arguments;
// ok is false where there is none.
func contractOf(c *ssa.CallCommon, v ssa.Value) (k contract, ok bool) {
	if c.IsInvoke() {
		switch m := shapeOf(c.Method); m {
		case serves:
			return drops, argument(c, 1) == v
		case sums:
			return sumOf(c, v), true
		default:
			if types.TypeString(c.Value.Type(), nil) == "reflect.Type" {
				return drops, true
			}
			k, ok = methodContracts[m]
			return k, ok
		}
	}
	callee := c.StaticCallee()
	if callee == nil {
		return 0, false
	}
	if source.NoEscape(callee) {
		return drops, true
	}
	pkg := origin(callee).Package()
	if pkg == nil {
		return 0, false
	}
	path, twin := strings.CutPrefix(pkg.Pkg.Path(), twins)
	if !flow.Standard(path) {
		return 0, false
	}
	if m, method := callee.Object().(*types.Func); method && shapeOf(m) == sums && callee.Signature.Recv() != nil {
		return sumOf(c, v), true
	}
	name := nameOf(callee)
	if twin {
		name = strings.TrimPrefix(name, twins)
	}
	for _, r := range contracts {
		if strings.HasPrefix(name, r.prefix) {
			return r.contract, true
		}
	}
	return 0, false
}

// shapeOf are the name and types by which an interface's method is known.
func shapeOf(m *types.Func) shape {
	sig := m.Signature()
	return shape{m.Name(), typesOf(sig.Params()), typesOf(sig.Results())}
}

func typesOf(t *types.Tuple) string {
	var names []string
	for v := range t.Variables() {
		names = append(names, types.TypeString(v.Type(), nil))
	}
	return "(" + strings.Join(names, ", ") + ")"
}
