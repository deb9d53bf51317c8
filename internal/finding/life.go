package finding

import "github.com/heaptrim/heaptrim/internal/evidence"

// Life is what becomes of the objects of a finding, along the observed stacks.
type Life struct {
	End      End
	Frame    int           // the user's frame in which they die or that hands them out, counted from the site's
	Function string        // of that frame
	At       evidence.Site // its line; zero where the source was not read
	Holder   string        // what keeps them, where End is EndStored; may be empty
	Receiver bool          // the holder is the receiver of the outermost method
	Given    bool          // the holder is another parameter of the outermost function
	Field    string        // field that they are stored in on the way; empty for none
	Made     string        // where the expression is that makes them; empty if it is not known
	PartOf   string        // where an object of the same function is made that they become part of; empty for none or several
	Passed   Passed
	Maker    Maker // the builder or buffer that the memory belongs to
	OnlyRead Tri   // nothing writes to them after they were made
	Ways     Ways
	Unknown  string // what could not be seen through, where End is EndUnknown
}

// Ways are those on which objects leave the site's function.
type Ways struct {
	Lines []int  // of the site's function that hand them on, lowest first; empty when not known
	Hook  string // variable of a package for functions, which nothing sets, and calls of which get them; empty for none
}

// Maker is the variable that memory belongs to. Its place is zero if the variable is not found.
type Maker struct {
	Name    string // empty for an object without a name
	At      evidence.Site
	Whole   bool // a json.Decoder that decodes one value of a text or of bytes that are in memory
	Pooled  bool // it comes from a pool
	Emptied bool // a strings.Builder whose Reset is called: its memory goes with each text
	Grown   bool // a builder or buffer whose Grow is called
}

// Passed says what objects go through on their way.
type Passed struct {
	Within  bool // a function returns them as part of something else
	Back    bool // a call that the site's function hands them to returns them, or part of what it returns
	Spawned bool // goroutines that the function waits for use them
	Carried bool // a loop makes them, and has them still in its next turn

	Compared bool // text of which the site's function only asks whether it equals another
	Key      Key  // of text
	Taken    bool // text that something takes which would not take bytes
	Argument bool // the site's function hands them to a call, or in a slice of arguments
	Listed   bool // a slice that the site's function hands on, or ranges over and uses in another way too
	Built    bool // text of a bytes.Buffer in which nothing else is done than to build one
	Scratch  bool // an object or a slice in an unexported field whose memory no function hands on
	Fixed    bool // a closure in a loop that captures what does not change in it, or the receiver alone
	Box      Box
	Dropped  bool // the function in which they die has no use for the result that they are, or are part of
	Spared   bool // the site's function hands them to one that may return without a look at them
}

// Key says whether text is one.
type Key struct {
	Asked bool          // maps are read by it, and nothing else needs it as a string
	Put   evidence.Site // where a map gets it; zero for nowhere
}

// Box describes objects that become interface values. Constant, Field and Type describe the boxed value itself.
type Box struct {
	Made     bool   // the objects become interface values on their way
	Constant bool   // it is a package variable, or an element of one, that nothing sets after the package is made
	Field    string // whose container, by one of its methods, gets it and values of this type alone; empty for none
	Type     string // where Field is known
	Handed   bool   // the function that gets it hands it to the standard library, and does nothing else with it
	Before   bool   // a line before makes an interface value of the same type of it, and uses that in the same way
	Settled  Settled
}

// Settled is an unexported field that is set only in owners which are made there, and the functions that do so. The name is
// empty for none.
type Settled struct {
	Name string
	By   []string // as pprof spells them
}

// End is where the life of an object ends, as far as the user's code goes.
type End int8

// The ends of a life.
const (
	EndUnknown End = iota
	EndFrame       // dies in Frame: no caller of that sees it
	EndResult      // part of what the user's code returns to code that is not the user's
	EndStored      // part of what outlives the call: a variable of the package, or an argument or receiver from outside
	EndShared      // handed to another goroutine
)
