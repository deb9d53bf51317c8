// Package watch is compiled into test binaries of packages that heaptrim changes. It notes what
// calls of their functions return while tests run, and then calls the functions itself, with
// arguments that it makes by their types. Two versions of a package that do the same
// leave the same notes. It imports the standard library only.
package watch

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// PlanVariable names the environment variable that holds the file of the Plan. Without it a
// Session does nothing.
const PlanVariable = "HEAPTRIM_WATCH"

// Plan says what a session is to do.
type Plan struct {
	Out       string              `json:"out"`     // file for the notes
	Module    string              `json:"module"`  // path of the module, whose types are looked into
	Watch     []string            `json:"watch"`   // functions whose calls are noted
	Drive     []string            `json:"drive"`   // functions to call
	Race      bool                `json:"race"`    // call them concurrently instead
	Words     []string            `json:"words"`   // text for arguments
	Numbers   []int64             `json:"numbers"` // for arguments
	Near      Near                `json:"near"`
	Small     int                 `json:"small"` // numbers are small: 1, those that makers get; 2, all
	Scenarios []Scenario          `json:"scenarios"`
	Skip      []string            `json:"skip"`    // scenarios that ended the process
	Drop      []string            `json:"drop"`    // functions several of whose scenarios did
	Alone     []string            `json:"alone"`   // functions that are called without other methods
	Explore   time.Duration       `json:"explore"` // how long to look for more scenarios
	Ignore    map[string][]string `json:"ignore"`  // fields by type that only one version has
}

// Near is what the code that changed compares with and cuts at: arguments have it at their edges, too often,
// or not at all.
type Near struct {
	Marks   []string `json:"marks,omitempty"` // short texts, such as separators
	Hot     []string `json:"hot,omitempty"`   // those of them that stand in lines that differ
	Words   []string `json:"words,omitempty"`
	Numbers []int64  `json:"numbers,omitempty"`

	Functions []string `json:"functions,omitempty"` // that changed
}

// Scenario is a series of calls: which function it is about, and the bytes that decide the rest.
type Scenario struct {
	Function string `json:"function"`
	Captured string `json:"captured,omitempty"` // hash of the captured call that it begins with
	Genome   []byte `json:"genome,omitempty"`
	Exact    bool   `json:"exact,omitempty"` // the captured call alone
	Holds    bool   `json:"holds,omitempty"` // what methods without arguments return is kept between calls
	Brief    bool   `json:"brief,omitempty"` // of what it shows, a sum alone is noted
	Sum      uint64 `json:"sum,omitempty"`   // that a brief one had when it was found
}

// Note is one line of the output: something that was seen, under a name that both versions give it.
type Note struct {
	Key      string    `json:"k"`
	Text     string    `json:"t,omitempty"`
	Scenario *Scenario `json:"s,omitempty"` // of the first note of one
	Hits     []int     `json:"h,omitempty"` // blocks that ran, in the last note
}

// Kind says what a registered function may be used for.
type Kind int

// The kinds, which may be combined.
const (
	Callable Kind = 1 << iota // may be called with any arguments
	Maker                     // makes values of a type of the package
	Getter                    // a method without arguments
)

// function is a function of the package.
type function struct {
	name string
	kind Kind
	fn   reflect.Value
	in   []reflect.Type
	out  []reflect.Type
}

// Session is what a test binary notes and does. The methods that wrappers use may be called from
// any goroutine.
type Session struct {
	plan Plan
	registered
	hit  []uint8
	exit func(status int)
	on   []bool // of wrappers, by number

	of ofCalls

	mu  sync.Mutex
	out *bufio.Writer
}

// ofCalls is what is known of calls.
type ofCalls struct {
	appends   map[string]bool // functions with the contract of append
	watched   map[string]*watched
	driving   atomic.Bool
	spent     atomic.Int64         // for looking at the arguments of tests' calls
	captured  map[string][]capture // by function
	pool      map[reflect.Type][]sample
	poolTypes []reflect.Type // of the pool, in order
	inputs    inputs
	web       func()    // makes the standard client of HTTP ask the session; nil without one
	answers   []*reader // that it gave to the scenario that is played
}

// registered is what the package has.
type registered struct {
	funcs     map[string]*function
	makers    map[reflect.Type][]*function
	getters   map[reflect.Type][]*function
	methods   map[reflect.Type][]*function // callable, by the receiver
	types     []reflect.Type
	cases     []reflect.Type              // that the package asks values of interfaces for
	stubs     map[reflect.Type]func() any // by interface
	sentinels []sentinel
}

// sentinel is an error value of the package.
type sentinel struct {
	name string
	at   *error
}

// Open reads the plan, if there is one. hit are flags of blocks that ran, on of wrappers that are
// wanted; exit ends the process.
func Open(hit []uint8, on []bool, exit func(status int)) *Session {
	s := &Session{hit: hit, on: on, exit: exit, registered: registered{stubs: map[reflect.Type]func() any{}, funcs: map[string]*function{}, makers: map[reflect.Type][]*function{},
		getters: map[reflect.Type][]*function{}, methods: map[reflect.Type][]*function{}},
		of: ofCalls{appends: map[string]bool{}, watched: map[string]*watched{}, captured: map[string][]capture{}, pool: map[reflect.Type][]sample{}}}
	name := os.Getenv(PlanVariable)
	if name == "" {
		return s
	}
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &s.plan) != nil {
		return s
	}
	file, err := os.OpenFile(s.plan.Out, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return s
	}
	s.out = bufio.NewWriterSize(file, 1<<16)
	for _, name := range s.plan.Watch {
		s.of.watched[name] = &watched{seen: map[string]int{}}
	}
	return s
}

// Wrapper connects a wrapper, by its number, to its function: it is on if the plan watches that.
func (s *Session) Wrapper(number int, name string) {
	if w := s.of.watched[name]; w != nil {
		w.number, w.wrapped = number, true
		s.on[number] = true
	}
}

// Appends registers a function with the contract of append: see appended.
func (s *Session) Appends(name string) { s.of.appends[name] = true }

// Func registers a function, or a method as a method expression.
func (s *Session) Func(name string, kind Kind, fn any) {
	if s.out == nil {
		return
	}
	f := &function{name: name, kind: kind, fn: reflect.ValueOf(fn)}
	t := f.fn.Type()
	for i := range t.NumIn() {
		f.in = append(f.in, t.In(i))
	}
	for i := range t.NumOut() {
		f.out = append(f.out, t.Out(i))
	}
	s.funcs[name] = f
	if kind&Maker != 0 && len(f.out) > 0 {
		s.makers[f.out[0]] = append(s.makers[f.out[0]], f)
	}
	if kind&Getter != 0 {
		s.getters[f.in[0]] = append(s.getters[f.in[0]], f)
	}
	if kind&Callable != 0 && len(f.in) > 0 {
		s.methods[f.in[0]] = append(s.methods[f.in[0]], f)
	}
}

// Type registers a type of the package by a nil pointer to it.
func (s *Session) Type(pointer any) {
	s.types = append(s.types, reflect.TypeOf(pointer).Elem())
}

// Case registers a type that the package asks values of interfaces for, by a nil pointer to it.
func (s *Session) Case(pointer any) {
	s.cases = append(s.cases, reflect.TypeOf(pointer).Elem())
}

// Error registers an error variable of the package.
func (s *Session) Error(name string, at *error) {
	s.sentinels = append(s.sentinels, sentinel{name, at})
}

// note writes a line.
func (s *Session) note(n Note) {
	line, err := json.Marshal(n)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Write(line)
	s.out.WriteByte('\n')
}

func (s *Session) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Flush()
}
