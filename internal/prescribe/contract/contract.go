// Package contract knows what calls that are not read do with memory that they are given, by their documentation.
package contract

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Contract is what a call that is not read does with memory that it is given, by its
// documentation.
type Contract int8

// The contracts.
const (
	Drops   Contract = iota // looks at it, and keeps nothing after it has returned
	Passes                  // the result refers to it
	Fills                   // the receiver or first argument refers to it from now on
	Keeps                   // something that outlives the call refers to it
	Chains                  // the result is the receiver; the other arguments are only looked at
	Unpacks                 // the result refers to elements of the slice, not to its array
)

// contractRule gives the contract of functions of libraries, most of them of the standard one: of the first
// pattern that the name begins with.
type contractRule struct {
	prefix   string
	contract Contract
}

// contracts are facts of the packages' documentation and source.
var contracts = []contractRule{
	// Results that refer to the argument.
	{"bytes.NewBuffer", Passes},
	{"bytes.NewReader", Passes},
	{"bytes.(*Buffer).Bytes", Passes},
	{"bytes.(*Buffer).Next", Passes},
	{"bytes.(*Buffer).AvailableBuffer", Passes},
	{"bytes.(*Buffer).", Drops}, // it copies what is written, and the rest is its own memory
	{"bytes.(*Reader).Reset", Fills},
	{"strings.NewReader", Passes},
	{"strings.(*Reader).Reset", Fills},
	{"strings.(*Builder).String", Passes},
	{"strings.(*Builder).", Drops},
	{"strings.NewReplacer", Passes},
	{"strings.Clone", Drops},
	{"strings.Join", Unpacks}, // the only element itself
	{"bytes.Join", Drops},
	{"bytes.Clone", Drops},
	{"bytes.Equal", Drops},
	{"bytes.Compare", Drops},
	{"strings.Compare", Drops},
	{"strings.", Passes}, // parts of the text, or the text itself where nothing changes
	{"bytes.", Passes},
	{"unicode/utf8.Append", Passes},
	{"unicode", Drops},
	{"strconv.Append", Passes},
	{"strconv.Unquote", Passes},
	{"strconv.", Drops},
	{"fmt.Append", Passes},
	{"fmt.Errorf", Passes}, // %w keeps the error
	{"fmt.", Drops},
	{"errors.Is", Drops},
	{"errors.", Passes},
	{"slices.Contains", Drops},
	{"slices.Index", Drops},
	{"slices.Sort", Drops},
	{"slices.BinarySearch", Drops},
	{"slices.Equal", Drops},
	{"slices.Clone", Unpacks},
	{"slices.Concat", Unpacks},
	{"slices.", Passes},
	{"maps.", Passes},
	{"sort.", Drops},
	{"cmp.", Drops},
	{"container/list.(*List).Push", Fills},
	{"container/list.(*List).Insert", Fills},
	{"container/list.(*List).Move", Drops},
	{"container/list.", Passes},
	{"container/heap.Push", Fills},
	{"container/heap.Fix", Drops},
	{"container/heap.Init", Drops},
	{"container/", Passes},
	{"hash", Drops},
	{"crypto/sha", Drops},
	{"crypto/md5.", Drops},
	{"crypto/subtle.", Drops},
	{"crypto/hmac.", Drops}, // the key is hashed or copied
	{"crypto/aes.NewCipher", Drops},
	{"crypto/des.New", Drops},
	{"crypto/cipher.New", Passes}, // the block; initial vectors are copied
	{"crypto/rand.", Drops},
	{"crypto/ed25519.", Drops},
	{"encoding/hex.Append", Passes},
	{"encoding/base64.(*Encoding).Append", Passes},
	{"encoding/binary.Append", Passes},
	{"encoding/hex.NewEncoder", Passes},
	{"encoding/hex.", Drops},
	{"encoding/base64.NewEncoder", Passes},
	{"encoding/base64.NewDecoder", Passes},
	{"encoding/base64.(", Drops},
	{"encoding/base32.New", Passes},
	{"encoding/base32.(*Encoding).Append", Passes},
	{"encoding/base32.(", Drops},
	{"encoding/binary.", Drops},
	{"encoding/json.New", Passes},
	{"encoding/json.(*Encoder).Encode", Drops},
	{"encoding/json.(*Decoder).Decode", Drops},
	{"encoding/json.", Drops},
	{"encoding/xml.New", Passes},
	{"encoding/xml.(*Encoder).", Drops},
	{"encoding/xml.(*Decoder).Decode", Drops},
	{"encoding/xml.(*Decoder).", Passes}, // tokens refer to the decoder's buffer
	{"encoding/xml.", Drops},
	{"encoding/gob.New", Passes},
	{"encoding/gob.(*Encoder).", Drops},
	{"encoding/gob.(*Decoder).", Drops},
	{"encoding/csv.New", Passes},
	{"encoding/csv.(*Writer).", Drops},
	{"encoding/csv.(*Reader).Read", Passes}, // with ReuseRecord, the record is the reader's
	{"compress/flate.New", Passes},
	{"compress/flate.(*Writer).Reset", Fills},
	{"compress/flate.(*Writer).", Drops},
	{"compress/gzip.New", Passes},
	{"compress/gzip.(*Writer).Reset", Fills},
	{"compress/gzip.(*Writer).", Drops},
	{"compress/gzip.(*Reader).Reset", Fills},
	{"compress/gzip.(*Reader).", Drops},
	{"compress/zlib.New", Passes},
	{"compress/zlib.(*Writer).Reset", Fills},
	{"compress/zlib.(*Writer).", Drops},
	{"bufio.New", Passes},
	{"bufio.(*Writer).Reset", Fills},
	{"bufio.(*Reader).Reset", Fills},
	{"bufio.(*Writer).AvailableBuffer", Passes},
	{"bufio.(*Writer).", Drops},
	{"bufio.(*Reader).Peek", Passes},
	{"bufio.(*Reader).ReadSlice", Passes},
	{"bufio.(*Reader).ReadLine", Passes},
	{"bufio.(*Reader).", Drops},
	{"bufio.(*Scanner).Bytes", Passes},
	{"bufio.(*Scanner).Buffer", Fills},
	{"bufio.(*Scanner).Split", Fills},
	{"bufio.(*Scanner).", Drops},
	{"io.ReadAll", Drops},
	{"io.ReadFull", Drops},
	{"io.ReadAtLeast", Drops},
	{"io.Copy", Drops},
	{"io.WriteString", Drops},
	{"io.", Passes},
	{"regexp.(*Regexp).Match", Drops},
	{"regexp.(*Regexp).", Passes},
	{"regexp.", Drops},
	{"time.(Time).", Drops},
	{"time.Time.In", Passes}, // the location
	{"time.Time.", Drops},
	{"time.Date", Passes},
	{"time.Duration.", Drops},
	{"time.LoadLocation", Drops},
	{"time.AfterFunc", Keeps},
	{"time.Parse", Drops},
	{"time.(*Timer).", Drops},
	{"time.(*Ticker).", Drops},
	{"net/textproto.CanonicalMIMEHeaderKey", Passes},
	{"net/textproto.Trim", Passes},
	{"net/textproto.MIMEHeader.Get", Passes},
	{"net/textproto.MIMEHeader.Values", Passes},
	{"net/textproto.MIMEHeader.Del", Drops},
	{"net/textproto.MIMEHeader.", Fills},
	{"net/http.CanonicalHeaderKey", Passes},
	{"net/http.Header.Get", Passes},
	{"net/http.Header.Values", Passes},
	{"net/http.Header.Del", Drops},
	{"net/http.Header.Clone", Passes},
	{"net/http.Header.Write", Drops},
	{"net/http.Header.", Fills},
	{"net/http.StatusText", Drops},
	{"net/url.", Passes},
	{"net.JoinHostPort", Drops},
	{"net.SplitHostPort", Passes},
	{"net.Parse", Drops},
	{"net.IP.", Passes},
	{"net.(*conn).", Drops},
	{"net/netip.", Passes},
	{"html.", Passes},
	{"mime.FormatMediaType", Drops},
	{"mime.", Passes},
	{"path.", Passes},
	{"path/filepath.", Passes},
	{"math/big.(*Int).SetBits", Fills},
	{"math/big.(*Int).Cmp", Drops},
	{"math/big.(*", Chains},
	{"math/big.", Drops},
	{"reflect.DeepEqual", Drops},
	{"reflect.TypeOf", Drops},
	{"reflect.Value.Set", Keeps},
	{"reflect.Value.Type", Drops},
	{"reflect.Value.Kind", Drops},
	{"reflect.", Passes},
	{"os.", Drops},
	{"internal/bytealg.", Drops},
	{"sync.(*Pool).Put", Keeps},
	{"sync.(*Mutex).", Drops},
	{"sync.(*RWMutex).", Drops},
	{"sync.(*WaitGroup).", Drops},
	{"sync.(*Pool).Get", Drops},
	{"sync.(*Map).LoadOrStore", Keeps},
	{"sync.(*Map).Load", Drops},
	{"sync.(*Map).Delete", Drops},
	{"sync.NewCond", Passes},
	{"sync.(*Cond).", Drops},
	{"sync.(*Once).", Drops},
	{"sync/atomic.Load", Drops},
	{"sync/atomic.Add", Drops},
	{"sync/atomic.CompareAndSwapInt", Drops},
	{"sync/atomic.CompareAndSwapUint", Drops},
	{"sync/atomic.StoreInt", Drops},
	{"sync/atomic.StoreUint", Drops},
	{"sync/atomic.SwapInt", Drops},
	{"sync/atomic.SwapUint", Drops},
	{"sync/atomic.(*Int", Drops},
	{"sync/atomic.(*Uint", Drops},
	{"sync/atomic.(*Bool", Drops},
	{"sync/atomic.(*Pointer).Load", Passes},
	{"sync/atomic.(*Value).Load", Passes},
	{"sync/atomic.", Keeps},
	{"sync.(*Map).", Keeps},
	{"context.With", Passes},
	{"runtime.KeepAlive", Drops},
	{"runtime.CallersFrames", Passes},
	{"runtime.(*Frames).", Drops}, // of its strings, none is in the slice
	{"runtime.Callers", Drops},
	{"math/rand.New", Passes},
	{"math/rand/v2.New", Passes},
	{"math/rand", Drops},
	{"text/template.(*Template).Execute", Drops},
	{"html/template.(*Template).Execute", Drops},
	{"log.(*Logger).", Drops},
	{"log.", Drops},
	{"testing.", Drops},
	// Protocol buffers: decoded values are copies.
	{"google.golang.org/protobuf/proto.Marshal", Drops},
	{"google.golang.org/protobuf/proto.Unmarshal", Drops},
	{"google.golang.org/protobuf/proto.Size", Drops},
	{"google.golang.org/protobuf/proto.Equal", Drops},
	{"github.com/golang/protobuf/proto.Marshal", Drops},
	{"github.com/golang/protobuf/proto.Unmarshal", Drops},
	{"github.com/golang/protobuf/proto.Size", Drops},
	{"github.com/golang/protobuf/proto.Equal", Drops},
}

// others are the packages beside the standard library whose contracts are listed.
var others = []string{"google.golang.org/protobuf/proto", "github.com/golang/protobuf/proto"}

// shape is the types of a method's parameters and results.
type shape struct {
	method, params, results string
}

// methodContracts are those of interfaces of the standard library, whose documentation says
// what an implementation may do with its arguments. They hold by name and types, because
// other interfaces embed these or repeat them.
var methodContracts = map[shape]Contract{
	{"Write", "([]byte)", "(int, error)"}:          Drops,
	{"WriteString", "(string)", "(int, error)"}:    Drops,
	{"WriteByte", "(byte)", "(error)"}:             Drops,
	{"Read", "([]byte)", "(int, error)"}:           Drops,
	{"ReadAt", "([]byte, int64)", "(int, error)"}:  Drops,
	{"WriteAt", "([]byte, int64)", "(int, error)"}: Drops,
	{"Error", "()", "(string)"}:                    Passes,
	{"String", "()", "(string)"}:                   Passes,
	{"Len", "()", "(int)"}:                         Drops,
	{"Less", "(int, int)", "(bool)"}:               Drops,
	{"Swap", "(int, int)", "()"}:                   Drops,
	{"Push", "(any)", "()"}:                        Fills, // of a heap
	{"Pop", "()", "(any)"}:                         Passes,
	{"Close", "()", "(error)"}:                     Drops,
	{"Flush", "()", "(error)"}:                     Drops,
	{"Seek", "(int64, int)", "(int64, error)"}:     Drops,
	{"ReadByte", "()", "(byte, error)"}:            Drops,
	{"UnreadByte", "()", "(error)"}:                Drops,
	{"Uint16", "([]byte)", "(uint16)"}:             Drops, // encoding/binary.ByteOrder
	{"Uint32", "([]byte)", "(uint32)"}:             Drops,
	{"Uint64", "([]byte)", "(uint64)"}:             Drops,
	{"PutUint16", "([]byte, uint16)", "()"}:        Drops,
	{"PutUint32", "([]byte, uint32)", "()"}:        Drops,
	{"PutUint64", "([]byte, uint64)", "()"}:        Drops,
	{"ReadRune", "()", "(rune, int, error)"}:       Drops,
	{"ReadFrom", "(io.Reader)", "(int64, error)"}:  Drops,
	{"WriteTo", "(io.Writer)", "(int64, error)"}:   Drops,
	{"Reset", "(io.Writer)", "()"}:                 Fills,
	{"Reset", "(io.Reader, []byte)", "(error)"}:    Fills,
	{"Size", "()", "(int64)"}:                      Drops,
	{"Size", "()", "(int)"}:                        Drops,
	{"BlockSize", "()", "(int)"}:                   Drops,
	{"Name", "()", "(string)"}:                     Passes,
	{"Lock", "()", "()"}:                           Drops,
	{"Unlock", "()", "()"}:                         Drops,
	{"WriteRune", "(rune)", "(int, error)"}:        Drops,
	{"UnreadRune", "()", "(error)"}:                Drops,
	{"Unwrap", "()", "(error)"}:                    Passes,
	{"Is", "(error)", "(bool)"}:                    Drops,
	{"Timeout", "()", "(bool)"}:                    Drops,
	{"Temporary", "()", "(bool)"}:                  Drops,
	// context: a key is only compared, and the value is the context's.
	{"Value", "(any)", "(any)"}:                                Passes,
	{"Err", "()", "(error)"}:                                   Passes,
	{"Done", "()", "(<-chan struct{})"}:                        Drops,
	{"Deadline", "()", "(time.Time, bool)"}:                    Drops,
	{"Reset", "()", "()"}:                                      Drops, // of a hash, a buffer, a message
	{"Sum32", "()", "(uint32)"}:                                Drops,
	{"Sum64", "()", "(uint64)"}:                                Drops,
	{"Int63", "()", "(int64)"}:                                 Drops,
	{"Uint64", "()", "(uint64)"}:                               Drops,
	{"NonceSize", "()", "(int)"}:                               Drops,
	{"Overhead", "()", "(int)"}:                                Drops,
	{"SetDeadline", "(time.Time)", "(error)"}:                  Drops,
	{"SetReadDeadline", "(time.Time)", "(error)"}:              Drops,
	{"SetWriteDeadline", "(time.Time)", "(error)"}:             Drops,
	{"LocalAddr", "()", "(net.Addr)"}:                          Passes,
	{"RemoteAddr", "()", "(net.Addr)"}:                         Passes,
	{"Network", "()", "(string)"}:                              Passes,
	{"WriteTo", "([]byte, net.Addr)", "(int, error)"}:          Drops,
	{"ReadFrom", "([]byte)", "(int, net.Addr, error)"}:         Drops,
	{"Header", "()", "(net/http.Header)"}:                      Passes,
	{"WriteHeader", "(int)", "()"}:                             Drops,
	{"Flush", "()", "()"}:                                      Drops,
	{"Enabled", "(context.Context, log/slog.Level)", "(bool)"}: Drops,
	{"Format", "(fmt.State, rune)", "()"}:                      Drops,
	{"Width", "()", "(int, bool)"}:                             Drops,
	{"Precision", "()", "(int, bool)"}:                         Drops,
	{"Flag", "(int)", "(bool)"}:                                Drops,
	{"Scan", "(any)", "(error)"}:                               Drops, // database/sql: a Scanner copies what it Keeps
	// crypto/cipher: AEAD appends to its first argument, the others fill it.
	{"Seal", "([]byte, []byte, []byte, []byte)", "([]byte)"}:        Passes,
	{"Open", "([]byte, []byte, []byte, []byte)", "([]byte, error)"}: Passes,
	{"Encrypt", "([]byte, []byte)", "()"}:                           Drops,
	{"Decrypt", "([]byte, []byte)", "()"}:                           Drops,
	{"CryptBlocks", "([]byte, []byte)", "()"}:                       Drops,
	{"XORKeyStream", "([]byte, []byte)", "()"}:                      Drops,
	// "must copy the text [or data] if it wishes to retain" it, say encoding and encoding/json.
	{"UnmarshalText", "([]byte)", "(error)"}:        Drops,
	{"UnmarshalBinary", "([]byte)", "(error)"}:      Drops,
	{"UnmarshalJSON", "([]byte)", "(error)"}:        Drops,
	{"MarshalText", "()", "([]byte, error)"}:        Passes,
	{"MarshalBinary", "()", "([]byte, error)"}:      Passes,
	{"MarshalJSON", "()", "([]byte, error)"}:        Passes,
	{"AppendText", "([]byte)", "([]byte, error)"}:   Passes,
	{"AppendBinary", "([]byte)", "([]byte, error)"}: Passes,
}

// Serves reports whether a method is that of net/http.Handler.
func Serves(m *types.Func) bool { return shapeOf(m) == serves }

// serves is the shape of net/http.Handler's method. The ResponseWriter may not be used after it has
// returned; of the Request, the documentation says no such thing.
var serves = shape{"ServeHTTP", "(net/http.ResponseWriter, *net/http.Request)", "()"}

// sums is the shape of hash.Hash's method that appends the sum to its argument.
var sums = shape{"Sum", "([]byte)", "([]byte)"}

// sumOf is what Sum does with its receiver or its argument: the result refers to the argument alone.
func sumOf(c *ssa.CallCommon, v ssa.Value) Contract {
	if flow.Argument(c, 0) == v {
		return Drops
	}
	return Passes
}

// twins begins the paths of packages that stand in for those of the standard library with the same names.
const twins = "github.com/klauspost/"

// Of is the contract of a call that is not followed into its callee, for one of its arguments;
// ok is false where there is none.
func Of(c *ssa.CallCommon, v ssa.Value) (k Contract, ok bool) {
	if c.IsInvoke() {
		switch m := shapeOf(c.Method); m {
		case serves:
			return Drops, flow.Argument(c, 1) == v
		case sums:
			return sumOf(c, v), true
		default:
			if types.TypeString(c.Value.Type(), nil) == "reflect.Type" {
				return Drops, true
			}
			k, ok = methodContracts[m]
			return k, ok
		}
	}
	callee := c.StaticCallee()
	if callee == nil {
		return 0, false
	}
	if flow.NoEscape(callee) {
		return Drops, true
	}
	pkg := flow.Origin(callee).Package()
	if pkg == nil {
		return 0, false
	}
	path, twin := strings.CutPrefix(pkg.Pkg.Path(), twins)
	if !flow.Standard(path) && !slices.Contains(others, path) {
		return 0, false
	}
	if m, method := callee.Object().(*types.Func); method && shapeOf(m) == sums && callee.Signature.Recv() != nil {
		return sumOf(c, v), true
	}
	name := flow.NameOf(callee)
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
