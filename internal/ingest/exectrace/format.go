package exectrace

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// The wire format, from internal/trace/tracev2 of Go 1.22 to 1.27. A file is
// a header of 16 bytes and then batches, each of one thread:
//
//	1 generation thread time size data
//
// Numbers are unsigned varints. Data is a list of events: a byte for the kind,
// the time since the event before, and a fixed number of arguments. Batches of
// strings, stacks, samples and clocks begin with an event of their own.

const (
	headerSize   = 16
	maxBatchSize = 64 << 10
	maxString    = 1 << 10
	maxVarint    = 10
)

// Kinds of event.
const (
	evBatch               = 1
	evStacks              = 2
	evStack               = 3
	evStrings             = 4
	evString              = 5
	evCPUSamples          = 6
	evCPUSample           = 7
	evFrequency           = 8
	evProcsChange         = 9
	evProcStart           = 10
	evProcStop            = 11
	evProcSteal           = 12
	evProcStatus          = 13
	evGoCreate            = 14
	evGoCreateSyscall     = 15
	evGoStart             = 16
	evGoDestroy           = 17
	evGoDestroySyscall    = 18
	evGoStop              = 19
	evGoBlock             = 20
	evGoUnblock           = 21
	evGoSyscallBegin      = 22
	evGoSyscallEnd        = 23
	evGoSyscallEndBlocked = 24
	evGoStatus            = 25
	evSTWBegin            = 26
	evSTWEnd              = 27
	evGCActive            = 28
	evGCBegin             = 29
	evGCEnd               = 30
	evGCSweepActive       = 31
	evGCSweepBegin        = 32
	evGCSweepEnd          = 33
	evGCMarkAssistActive  = 34
	evGCMarkAssistBegin   = 35
	evGCMarkAssistEnd     = 36
	evHeapAlloc           = 37
	evHeapGoal            = 38
	evGoLabel             = 39
	evUserTaskBegin       = 40
	evUserTaskEnd         = 41
	evUserRegionBegin     = 42
	evUserRegionEnd       = 43
	evUserLog             = 44
	evGoSwitch            = 45
	evGoSwitchDestroy     = 46
	evGoCreateBlocked     = 47
	evGoStatusStack       = 48
	evExperimentalBatch   = 49
	evSync                = 50
	evClockSnapshot       = 51
	evEndOfGeneration     = 52
	evExperimentFirst     = 128 // events of experiments
	evExperimentLast      = 136
)

// States of a proc in status events.
const (
	procRunning   = 1
	procIdle      = 2
	procSyscall   = 3
	procAbandoned = 4 // in a system call, by a thread that is not known any more
)

// States of a goroutine in status events.
const (
	statusRunnable = 1
	statusRunning  = 2
	statusSyscall  = 3
	statusWaiting  = 4
)

// arguments gives the number of varints behind the byte of each kind of timed
// event, the time included. The kinds that are 0 do not occur in a batch of
// events.
func arguments() [256]uint8 {
	var n [256]uint8
	//                ProcsChange, ProcStart, ProcStop, ProcSteal, ProcStatus
	copy(n[9:], []uint8{3, 3, 1, 4, 3})
	//                 GoCreate, CreateSyscall, Start, Destroy, DestroySyscall, Stop, Block, Unblock
	copy(n[14:], []uint8{4, 2, 3, 1, 1, 3, 3, 4})
	//                 GoSyscallBegin, End, EndBlocked, GoStatus
	copy(n[22:], []uint8{3, 1, 1, 4})
	//                 STWBegin, STWEnd, GCActive, GCBegin, GCEnd
	copy(n[26:], []uint8{3, 1, 2, 3, 2})
	//                 GCSweepActive, Begin, End, GCMarkAssistActive, Begin, End
	copy(n[31:], []uint8{2, 2, 3, 2, 2, 1})
	//                 HeapAlloc, HeapGoal, GoLabel
	copy(n[37:], []uint8{2, 2, 2})
	//                 UserTaskBegin, End, UserRegionBegin, End, UserLog
	copy(n[40:], []uint8{5, 3, 4, 4, 5})
	//                 GoSwitch, GoSwitchDestroy, GoCreateBlocked, GoStatusStack
	copy(n[45:], []uint8{3, 3, 4, 5})
	n[evClockSnapshot] = 4
	//                  Span, Alloc, Free, HeapObject, Alloc, Free, GoroutineStack, Alloc, Free
	copy(n[128:], []uint8{4, 4, 2, 3, 3, 2, 3, 3, 2})
	return n
}

// version is the minor release of Go that introduced a format.
type version int

// The formats that differ in what a scan looks at.
const (
	version125 version = 25 // the clock is in a batch of its own kind
	version126 version = 26 // generations end with an event
)

// readHeader reads the 16 bytes at the start of a trace.
func readHeader(r io.Reader) (version, error) {
	var h [headerSize]byte
	n, err := io.ReadFull(r, h[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, fmt.Errorf("read execution trace: %w", err)
	}
	if n == 0 {
		return 0, &Error{0, "the file is empty", io.ErrUnexpectedEOF}
	}
	const magic = "go 1."
	if !bytes.HasPrefix(h[:n], []byte(magic)) {
		return 0, &Error{Offset: 0, Reason: "not a Go execution trace: the file does not begin with \"go 1.\""}
	}
	if n < headerSize {
		return 0, &Error{int64(n), "the header is cut short", io.ErrUnexpectedEOF}
	}
	minor, rest, _ := bytes.Cut(h[len(magic):], []byte(" "))
	v, err := strconv.Atoi(string(minor))
	if err != nil || !bytes.HasPrefix([]byte("trace\x00\x00\x00\x00\x00\x00"), rest) || len(rest) < len("trace\x00\x00\x00") {
		return 0, &Error{Offset: 0, Reason: fmt.Sprintf("not a Go execution trace: header %q", h)}
	}
	switch v {
	case 22, 23, 25, 26:
		return version(v), nil
	case 5, 7, 8, 9, 10, 11, 19, 21:
		return 0, &Error{Offset: 0, Reason: fmt.Sprintf("the trace is in the format of Go 1.%d; traces of Go 1.22 and later can be read", v)}
	}
	return 0, &Error{Offset: 0, Reason: fmt.Sprintf("the trace is in format go 1.%d, which this version does not know", v)}
}
