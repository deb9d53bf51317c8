package perf

import (
	"bytes"
	"strconv"
	"time"
)

// findClock finds the time in the first line of a sample, " 123.456789:", and
// how long it is with its colon. The last one counts whose left neighbour is a
// number: a comm may look like a time.
func findClock(line []byte) (at, n int, ok bool) {
	for i := 1; i < len(line); i++ {
		if line[i-1] != ' ' || !isDigit(line[i]) {
			continue
		}
		j := i
		for j < len(line) && isDigit(line[j]) {
			j++
		}
		k := j + 1
		for j < len(line) && line[j] == '.' && k < len(line) && isDigit(line[k]) {
			k++
		}
		// Microseconds, or nanoseconds with --ns.
		if k-j-1 >= 6 && k < len(line) && line[k] == ':' && endsInNumber(line[:i]) {
			return i, k + 1 - i, true
		}
		i = j - 1
		if i < 1 {
			i = 1
		}
	}
	return 0, 0, false
}

// endsInNumber says whether a thread's number or a processor's stands before.
func endsInNumber(b []byte) bool {
	b = bytes.TrimRight(b, " \t")
	return len(b) > 0 && (isDigit(b[len(b)-1]) || b[len(b)-1] == ']')
}

// maxSeconds keeps times in range: 31 years since the machine started.
const maxSeconds = 1e9

func parseClock(b []byte) time.Duration {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || v > maxSeconds {
		return 0
	}
	return time.Duration(v * float64(time.Second))
}

// address reads the hexadecimal number that a frame begins with and returns
// its length.
func address(b []byte) (int, bool) {
	n := 0
	for n < len(b) && (isDigit(b[n]) || b[n] >= 'a' && b[n] <= 'f') {
		n++
	}
	return n, n > 0 && n <= 16 && n < len(b) && b[n] == ' '
}

// split takes a frame's symbol and object apart. A symbol of Go or C++ may hold
// spaces and parentheses, and so may a file's name.
func split(b []byte) (symbol, object []byte) {
	at, last := -1, -1 // the last " (" before a path or a bracket; else the last one
	for i := bytes.LastIndexByte(b, '('); i > 0 && at < 0; i = bytes.LastIndexByte(b[:i], '(') {
		if b[i-1] != ' ' {
			continue
		}
		last = max(last, i-1)
		if i+1 < len(b) && (b[i+1] == '/' || b[i+1] == '[') {
			at = i - 1
		}
	}
	if at < 0 {
		at = last
	}
	if at < 0 || b[len(b)-1] != ')' {
		return b, nil
	}
	return b[:at], b[at+2 : len(b)-1]
}

// inKernel says whether a frame is the kernel's: it names itself in brackets,
// its modules lie in the upper half of the address space.
func inKernel(address, object []byte) bool {
	for _, name := range []string{"[kernel", "[guest.kernel"} {
		if bytes.HasPrefix(object, []byte(name)) {
			return true
		}
	}
	return len(address) == 16 && bytes.HasPrefix(address, []byte("ffff"))
}

// function is a symbol as profiles of Go spell it: without the offset, without
// the suffix of an ABI, and with "[...]" for the types of an instance. What the
// C compiler adds to the kernel's functions goes too.
func function(symbol []byte, kernel bool) []byte {
	if i := bytes.LastIndex(symbol, []byte("+0x")); i > 0 {
		symbol = symbol[:i]
	}
	if kernel {
		if i := bytes.IndexByte(symbol, '.'); i > 0 {
			symbol = symbol[:i]
		}
		return symbol
	}
	symbol = bytes.TrimSuffix(bytes.TrimSuffix(symbol, []byte(".abi0")), []byte(".abiinternal"))
	if i := bytes.IndexByte(symbol, '['); i > 0 && bytes.Contains(symbol[i:], []byte("go.shape.")) {
		if j := bytes.LastIndexByte(symbol, ']'); j > i {
			short := append(make([]byte, 0, len(symbol)), symbol[:i]...)
			short = append(short, "[...]"...)
			return append(short, symbol[j+1:]...)
		}
	}
	return symbol
}
