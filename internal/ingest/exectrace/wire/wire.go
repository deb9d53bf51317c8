// Package wire has the numbers of the format of execution traces, from internal/trace/tracev2 of Go
// 1.22 to 1.27.
package wire

// Kinds of event.
const (
	Batch               = 1
	Stacks              = 2
	Stack               = 3
	Strings             = 4
	String              = 5
	CPUSamples          = 6
	CPUSample           = 7
	Frequency           = 8
	ProcsChange         = 9
	ProcStart           = 10
	ProcStop            = 11
	ProcSteal           = 12
	ProcStatus          = 13
	GoCreate            = 14
	GoCreateSyscall     = 15
	GoStart             = 16
	GoDestroy           = 17
	GoDestroySyscall    = 18
	GoStop              = 19
	GoBlock             = 20
	GoUnblock           = 21
	GoSyscallBegin      = 22
	GoSyscallEnd        = 23
	GoSyscallEndBlocked = 24
	GoStatus            = 25
	STWBegin            = 26
	STWEnd              = 27
	GCActive            = 28
	GCBegin             = 29
	GCEnd               = 30
	GCSweepActive       = 31
	GCSweepBegin        = 32
	GCSweepEnd          = 33
	GCMarkAssistActive  = 34
	GCMarkAssistBegin   = 35
	GCMarkAssistEnd     = 36
	HeapAlloc           = 37
	HeapGoal            = 38
	GoLabel             = 39
	UserTaskBegin       = 40
	UserTaskEnd         = 41
	UserRegionBegin     = 42
	UserRegionEnd       = 43
	UserLog             = 44
	GoSwitch            = 45
	GoSwitchDestroy     = 46
	GoCreateBlocked     = 47
	GoStatusStack       = 48
	ExperimentalBatch   = 49
	Sync                = 50
	ClockSnapshot       = 51
	EndOfGeneration     = 52
	ExperimentFirst     = 128 // events of experiments
	ExperimentLast      = 136
)

// States of a proc in status events.
const (
	ProcRunning   = 1
	ProcIdle      = 2
	ProcSyscall   = 3
	ProcAbandoned = 4 // in a system call, by a thread that is not known any more
)

// States of a goroutine in status events.
const (
	StatusRunnable = 1
	StatusRunning  = 2
	StatusSyscall  = 3
	StatusWaiting  = 4
)

// Arguments gives the number of varints behind the byte of each kind of timed
// event, the time included. The kinds that are 0 do not occur in a batch of
// events.
func Arguments() [256]uint8 {
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
	n[ClockSnapshot] = 4
	//                  Span, Alloc, Free, HeapObject, Alloc, Free, GoroutineStack, Alloc, Free
	copy(n[128:], []uint8{4, 4, 2, 3, 3, 2, 3, 3, 2})
	return n
}
