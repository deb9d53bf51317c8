package schema

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TraceVersion is the version of the JSON of a trace; doc/format/trace.md is its
// specification.
const TraceVersion = "heaptrim.trace/1"

// The JSON of heaptrim trace. Times are in nanoseconds, amounts in bytes.
type (
	TraceReport struct {
		Schema        string           `json:"schema"`
		File          string           `json:"file"`
		Problem       string           `json:"problem"`
		Format        string           `json:"format"`
		Bytes         int64            `json:"bytes"`
		Events        int64            `json:"events"`
		Generations   int              `json:"generations"`
		LengthNS      time.Duration    `json:"length_ns"`
		Mark          TraceMark        `json:"mark"`
		Assist        TraceAssist      `json:"assist"`
		WorkersNS     TraceWorkers     `json:"workers_ns"`
		Sweep         TraceSweep       `json:"sweep"`
		Heap          TraceHeap        `json:"heap"`
		Pauses        []TracePause     `json:"pauses"`
		Stops         []TraceStop      `json:"stops"`
		UnlistedStops int              `json:"unlisted_stops"`
		Goroutines    []TraceGoroutine `json:"goroutines"`
		Others        TraceGoroutine   `json:"other_goroutines"`
		Delayed       *TraceDelayed    `json:"payers"`
	}
	TraceMark struct {
		Count    int           `json:"count"`
		TotalNS  time.Duration `json:"total_ns"`
		Unlisted int           `json:"unlisted"`
		Cycles   []TraceCycle  `json:"cycles"`
	}
	TraceCycle struct {
		StartNS   time.Duration `json:"start_ns"`
		EndNS     time.Duration `json:"end_ns"`
		LiveStart int64         `json:"live_start_bytes"`
		LiveEnd   int64         `json:"live_end_bytes"`
		Goal      int64         `json:"goal_bytes"`
		Open      bool          `json:"open"`
	}
	TraceAssist struct {
		Count     int           `json:"count"`
		OnCPUNS   time.Duration `json:"on_cpu_ns"`
		ParkedNS  time.Duration `json:"parked_ns"`
		WaitingNS time.Duration `json:"waiting_ns"`
	}
	TraceWorkers struct {
		Dedicated  time.Duration `json:"dedicated"`
		Fractional time.Duration `json:"fractional"`
		Idle       time.Duration `json:"idle"`
	}
	TraceSweep struct {
		Count     int           `json:"count"`
		TimeNS    time.Duration `json:"time_ns"`
		Swept     int64         `json:"swept_bytes"`
		Reclaimed int64         `json:"reclaimed_bytes"`
	}
	TraceHeap struct {
		Live TraceCourse `json:"live"`
		Goal TraceCourse `json:"goal"`
	}
	TraceCourse struct {
		Samples int   `json:"samples"`
		First   int64 `json:"first_bytes"`
		Last    int64 `json:"last_bytes"`
		Min     int64 `json:"min_bytes"`
		Max     int64 `json:"max_bytes"`
	}
	TracePause struct {
		Reason  string        `json:"reason"`
		Count   int           `json:"count"`
		TotalNS time.Duration `json:"total_ns"`
		MaxNS   time.Duration `json:"max_ns"`
	}
	TraceStop struct {
		StartNS   time.Duration `json:"start_ns"`
		LengthNS  time.Duration `json:"length_ns"`
		Reason    string        `json:"reason"`
		Goroutine uint64        `json:"goroutine"`
	}
	TraceGoroutine struct {
		ID      uint64        `json:"id"`
		Assist  TraceAssist   `json:"assist"`
		Sweep   TraceSweep    `json:"sweep"`
		Stops   int           `json:"stops"`
		StopsNS time.Duration `json:"stops_ns"`
	}
)

// Who pays.
type (
	TraceDelayed struct {
		Goroutines    int             `json:"goroutines"`
		STWNS         time.Duration   `json:"stw_ns"`
		Groups        []TraceGroup    `json:"groups"`
		Requests      []TraceRequests `json:"requests"`
		UnlistedKinds int             `json:"unlisted_kinds"`
		Windows       []TraceWindow   `json:"windows"`
		Unlisted      int             `json:"unlisted_windows"`
		Causes        TraceCauses     `json:"causes"`
	}
	TraceCauses struct {
		Samples    int         `json:"samples"`
		Mark       int         `json:"mark_samples"`
		Allocating TraceTally  `json:"allocating"`
		PaidNS     TraceSplit  `json:"paid_ns"`
		Sites      []TraceSite `json:"sites"`
		Unlisted   int         `json:"unlisted_samples"`
	}
	TraceTally struct {
		All    int `json:"all"`
		Mark   int `json:"mark"`
		Others int `json:"others_paying"`
	}
	TraceSite struct {
		Func       string         `json:"function"`
		File       string         `json:"file"`
		Line       int            `json:"line"`
		Allocating TraceTally     `json:"allocating"`
		Paying     int            `json:"paying"`
		Share      stats.Interval `json:"mark_share"`
		Phases     int            `json:"phases"`
		PaidNS     TraceSplit     `json:"paid_ns"`
	}
	TraceGroup struct {
		Start      string     `json:"start"`
		Handler    string     `json:"handler"`
		System     bool       `json:"system"`
		Goroutines int        `json:"goroutines"`
		PartsNS    TraceSplit `json:"parts_ns"`
	}
	TraceRequests struct {
		Kind    string         `json:"kind"`
		Name    string         `json:"name"`
		Count   int            `json:"count"`
		TotalNS time.Duration  `json:"total_ns"`
		P50NS   time.Duration  `json:"p50_ns"`
		P90NS   time.Duration  `json:"p90_ns"`
		P99NS   time.Duration  `json:"p99_ns"`
		MaxNS   time.Duration  `json:"max_ns"`
		PartsNS TraceSplit     `json:"parts_ns"`
		SlowN   int            `json:"slow_count"`
		SlowNS  TraceSplit     `json:"slow_parts_ns"`
		Slowest []TraceRequest `json:"slowest"`
		MostGC  []TraceRequest `json:"most_memory"`
	}
	TraceRequest struct {
		StartNS   time.Duration `json:"start_ns"`
		LengthNS  time.Duration `json:"length_ns"`
		Goroutine int64         `json:"goroutine"`
		Task      uint64        `json:"task"`
		MarkNS    time.Duration `json:"mark_ns"`
		PartsNS   TraceSplit    `json:"parts_ns"`
	}
	TraceWindow struct {
		StartNS time.Duration `json:"start_ns"`
		EndNS   time.Duration `json:"end_ns"`
		PaidNS  TraceSplit    `json:"paid_ns"`
	}
	TraceSplit map[string]time.Duration
)
