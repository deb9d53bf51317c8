package report

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// span95 is v with a symmetric interval, in percent.
func span95(v, half float64) stats.Interval {
	return stats.Interval{Value: v / 100, Low: (v - half) / 100, High: (v + half) / 100}
}

// within is a quantity with a relative error.
func within(v, relative float64) stats.Interval {
	return stats.Interval{Value: v, Low: v * (1 - relative), High: v * (1 + relative)}
}

// fixture is a diagnosis as `heaptrim check ./examples/gateway` could give it.
// Its figures are invented.
func fixture() *finding.Report {
	d := fixtureDiagnosis()
	return &finding.Report{
		Diagnosis: d, Prescription: fixturePrescription(), Rules: fixtureRules(), Warnings: d.Warnings,
		Advice: []finding.Advice{{
			Title: "give the heap more room",
			Remedy: finding.Remedy{
				Code: "gc-headroom", Safety: "review", Text: "GOGC=400 would let the heap grow to 31 MiB instead of 12.4 MiB before each collection: 20/s cycles instead of 81/s",
				Why:   "the collector takes 19.6 % of CPU with 6.1 MiB live",
				Saves: finding.Prediction{CPU: span95(13.1, 0.9), Basis: "the pacer's formula with the recorded live heap and allocation rate"},
			},
		}},
	}
}

func fixtureDiagnosis() *finding.Diagnosis {
	return &finding.Diagnosis{
		Target: evidence.Target{
			Kind: evidence.TargetPackages, Args: []string{"./examples/gateway/..."}, Module: "github.com/heaptrim/heaptrim",
			ModuleDir: "/src/heaptrim", Packages: []string{"github.com/heaptrim/heaptrim/examples/gateway/api"},
		},
		Environment: evidence.Environment{
			GoVersion: "go1.26.8", GOOS: "linux", GOARCH: "amd64", GOMAXPROCS: 4, NumCPU: 8, GOGC: "100", GOMEMLIMIT: "off",
			MemoryBytes: 24 << 30, CgroupLimit: 4 << 30, CgroupCPU: 4, THP: "madvise", CPUModel: "AMD EPYC 7B13", Kernel: "6.8.0",
		},
		Totals:        fixtureTotals(),
		Decomposition: fixtureBuckets(),
		Groups:        fixtureGroups(),
		Excluded: []finding.Finding{
			{
				Title: "benchmark or test code", Run: "BenchmarkOrder",
				Site:     evidence.Site{Function: "github.com/heaptrim/heaptrim/examples/gateway/api.newRequest", Package: "github.com/heaptrim/heaptrim/examples/gateway/api", File: "examples/gateway/api/api_test.go", Line: 31},
				Cost:     finding.Cost{CPU: span95(3.2, 0.5), Malloc: span95(1.9, 0.4), Churn: span95(1.3, 0.2), BytesPerOp: within(912, 0.01), ObjectsPerOp: within(9, 0.01)},
				Lifetime: finding.Lifetime{Class: finding.LifetimeShort},
			},
		},
		Runs: []finding.RunSummary{
			{Name: "BenchmarkOrder", Package: "github.com/heaptrim/heaptrim/examples/gateway/api", Ops: 812_400, Pace: finding.Pace{NsPerOp: 11_840}, BytesPerOp: 6213, AllocsPerOp: 97, CyclesPerKiloOp: 1.42, MemoryShare: span95(44.1, 2.3), CPUSecondsPerOp: 1.3e-5, CycleScale: 0.84,
				Retention: finding.Basis{Known: true, Text: "in-use bytes of 24 heap profiles in the run, 2811 cycles, goal by GOGC"},
				FreshLine: &evidence.CacheMiss{Threads: 1, LiveBytes: 6 << 20, FreshBytes: 6 << 20, NS: stats.Interval{Value: 14.2, Low: 11.8, High: 17.1}, UseNS: 61},
				CycleCost: &evidence.CycleCost{Pairs: 21, Times: 3, NS: stats.Interval{Value: 6.2e6, Low: 5.1e6, High: 7.4e6}}},
			{Name: "BenchmarkList/100_items", Package: "github.com/heaptrim/heaptrim/examples/gateway/api", Ops: 51_220, Pace: finding.Pace{NsPerOp: 189_300}, BytesPerOp: 74_112, AllocsPerOp: 1212, CyclesPerKiloOp: 17.1, MemoryShare: span95(32.3, 2.1), CPUSecondsPerOp: 2.1e-4},
			{Name: "BenchmarkRoute", Package: "github.com/heaptrim/heaptrim/examples/gateway/api", Ops: 28_812_400, Pace: finding.Pace{NsPerOp: 141.3}, MemoryShare: span95(0.3, 0.2), CPUSecondsPerOp: 1.5e-7},
		},
		Gaps: []evidence.Gap{
			{What: "raw allocation stacks (recorded by heaptrim itself)", Adds: "the exact kind of every allocation, which pprof hides"},
		},
		Warnings: []string{"BenchmarkRoute: 3 collections in the window, too few for its collector share"},
	}
}

func fixtureTotals() finding.Totals {
	return finding.Totals{
		CPUSeconds: 41.37, Samples: 4137, MemoryShare: span95(38.2, 1.9), CollectorShare: span95(19.6, 1.3), IdleMarkShare: span95(4.1, 0.6),
		Cycles: finding.CycleTotals{Automatic: 2811, Forced: 6, PerSecond: 81.4, TraceShare: 0.112},
		Heap:   finding.HeapTotals{Live: 6_400_000, Goal: 13_000_000, Peak: 14_800_000},
		Pauses: finding.PauseTotals{P50: 46 * time.Microsecond, Max: 312 * time.Microsecond, Total: 271 * time.Millisecond}, BytesPerSecond: 524.7e6,
		Why:       "6.1 MiB are live, so GOGC lets the heap grow to 12.4 MiB: the program allocates at 500.4 MiB/s and fills these 6.3 MiB in each cycle.",
		Retention: finding.Basis{Known: true, Text: "in-use bytes of 24 heap profiles in the run, 2811 cycles, goal by GOGC"}, Sites: span95(15.1, 1.2), Remainder: span95(0.8, 0.1),
	}
}

func fixtureBuckets() []finding.Bucket {
	row := func(name string, v, half float64, memory bool) finding.Bucket {
		b := finding.Bucket{Name: name, Share: span95(v, half), Memory: memory, Charged: name != "mark, idle workers"}
		for _, info := range stack.BucketInfo {
			if info.Name == name {
				b.Group = info.Group
			}
		}
		return b
	}
	return []finding.Bucket{
		row("application", 58.4, 1.5, false), row("malloc", 12.9, 1.0, true), row("zeroing", 2.6, 0.5, true), row("growslice copying", 1.7, 0.4, true),
		row("heap profiler", 0.02, 0.02, true), row("mark assist", 3.1, 0.5, true), row("mark, dedicated workers", 13.2, 1.1, true),
		row("mark, fractional workers", 0, 0, true), row("cycle start and end", 0.9, 0.3, true), row("sweep", 1.6, 0.4, true),
		row("scavenge", 0.03, 0.03, true), row("write barrier", 0.8, 0.3, true), row("stack growth", 1.35, 0.3, true),
		row("scheduler, timers, netpoll", 2.9, 0.5, false), row("profiling itself", 0.2, 0.1, false), row("not classified", 0.3, 0.2, false),
		row("mark, idle workers", 4.1, 0.6, true),
	}
}

func fixtureGroups() []finding.Bucket {
	row := func(name string, v, half float64) finding.Bucket {
		return finding.Bucket{
			Name: name, Group: name, Share: span95(v, half), Memory: name != stack.GroupApplication, Charged: true,
		}
	}
	return []finding.Bucket{
		row(stack.GroupCollecting, 19.63, 1.3), row(stack.GroupAllocating, 12.92, 1.0), row(stack.GroupFilling, 4.3, 0.6),
		row(stack.GroupPages, 1.35, 0.3), row(stack.GroupApplication, 61.8, 1.6),
	}
}

func fixtureFindings() []finding.Row {
	const pkg = "github.com/heaptrim/heaptrim/examples/gateway/"
	at := func(fn, file string, line int) evidence.Site {
		return evidence.Site{Function: pkg + fn, Package: pkg + "api", File: "examples/gateway/" + file, Line: line}
	}
	first := finding.Row{Rank: 1, Finding: &finding.Finding{
		Title: "interface boxing in fmt.Sprintf", Site: at("api.(*Server).cacheKey", "api/cache.go", 42), Run: "BenchmarkOrder",
		Allocation: finding.Allocation{
			Via: "fmt.Sprintf", Kind: finding.KindBoxing, Pointers: finding.Yes,
			Mix: []finding.Mix{
				{Kind: finding.KindBoxing, Via: "fmt.Sprintf", Objects: 0.67, Bytes: 0.31}, {Kind: finding.KindString, Via: "fmt.Sprintf", Objects: 0.33, Bytes: 0.69},
			},
			Callers: []finding.Caller{{Site: at("api.(*Server).order", "", 0), Share: 0.62}, {Site: at("api.(*Server).list", "", 0), Share: 0.21}}, Sizes: []finding.SizeCount{{Size: 8, Objects: 9e5}, {Size: 16, Objects: 1.8e6}, {Size: 48, Objects: 2.1e5}, {Size: 128, Objects: 4e4}},
		},
		Cost: finding.Cost{
			CPU: span95(9.1, 0.9), Malloc: span95(4.2, 0.6), Zeroing: span95(0.4, 0.2), Assist: span95(0.6, 0.3), Churn: span95(4.1, 0.4), Retention: span95(-0.2, 0.1),
			BytesPerOp: within(1214, 0.01), ObjectsPerOp: within(24, 0.01), BytesPerSecond: within(102.5e6, 0.01), ObjectsPerSecond: within(2.03e6, 0.01),
			InUse: within(88_000, 0.2), InUseObjects: 1740,
		},
		Lifetime: finding.Lifetime{Class: finding.LifetimeShort, Mean: 840 * time.Microsecond, Basis: "in use over allocation rate, 24 heap profiles"},
		Escape: &finding.Escape{
			Text: "the copy of `id` or `page` that converting to an interface makes is passed to fmt.Sprintf, which keeps its arguments",
			Expr: "id", At: at("", "api/cache.go", 42), From: &evidence.Escape{Line: 42, Col: 38, Verb: evidence.EscapesToHeap, Expr: "id"},
			Flow: []evidence.Flow{
				{Dst: "{storage for ... argument}", Src: "&{storage for id}", Edges: []evidence.FlowEdge{
					{Expr: "id", Why: "spill", File: "examples/gateway/api/cache.go", Line: 42, Col: 38},
					{Expr: "... argument", Why: "slice-literal-element", File: "examples/gateway/api/cache.go", Line: 42, Col: 20},
				}},
				{Dst: "{heap}", Src: "{storage for ... argument}", Edges: []evidence.FlowEdge{
					{Expr: "fmt.Sprintf(\"%s/%d\", id, page)", Why: "call parameter", File: "examples/gateway/api/cache.go", Line: 42, Col: 20},
				}},
			},
		},
		Stacks: fixtureStacks(pkg),
	}, Others: []finding.Remedy{{
		Code: "skip-work", Safety: "review", Text: "keep the result of Sprintf in line 38: it is called again with the same arguments",
		Saves: finding.Prediction{CPU: span95(8.9, 1.4), BytesPerOp: within(1214, 0.01), ObjectsPerOp: within(24, 0.01)},
	}}}
	prescribed(&first, finding.Remedy{
		Code: "avoid-conversion", Safety: "review", Text: "append the parts of `id` and `page` to a buffer with strconv.AppendInt instead of formatting",
		Why: "24 objects and 1.2 KiB an operation come from fmt.Sprintf",
	}, finding.Cut{Objects: 1, Bytes: 1, Live: 1})
	first.ByRun = []finding.RunCost{
		{Run: "BenchmarkOrder", Cost: first.Cost},
		{Run: "BenchmarkList/100_items", Cost: finding.Cost{CPU: span95(2.2, 0.5), BytesPerOp: within(310, 0.05), ObjectsPerOp: within(6, 0.05)}},
	}
	plain := func(rank int, site evidence.Site, cpu stats.Interval, bytes, objects float64) finding.Row {
		return finding.Row{Rank: rank, Finding: &finding.Finding{
			Title: "new object", Site: site, Run: "BenchmarkOrder", Allocation: finding.Allocation{Kind: finding.KindNew},
			Cost: finding.Cost{
				CPU: cpu, Malloc: cpu.Scale(0.5), Churn: cpu.Scale(0.5), BytesPerOp: within(bytes, 0.01), ObjectsPerOp: within(objects, 0.01),
				BytesPerSecond: within(bytes*84_000, 0.01), ObjectsPerSecond: within(objects*84_000, 0.01),
			},
			Lifetime: finding.Lifetime{Class: finding.LifetimeShort},
		}}
	}
	growth := plain(2, at("api.(*Server).listOrders", "api/orders.go", 118), span95(7.4, 0.8), 48_300, 11)
	growth.Allocation.Kind, growth.Run = finding.KindGrowth, "BenchmarkList/100_items"
	growth.Escape = &finding.Escape{Text: "append grows `out`; the new backing array is returned by listOrders"}
	prescribed(&growth, finding.Remedy{
		Code: "presize-slice", Safety: "safe", Text: "make `out` with capacity len(orders) (line 112)", Why: "86 % of the arrays that append made here were outgrown again",
	}, finding.Cut{Objects: 0.86, Bytes: 0.5})
	decode := plain(3, at("api.(*Server).decode.func1", "api/decode.go", 77), span95(7.1, 0.8), 1904, 21)
	decode.Allocation.Via, decode.Allocation.Kind, decode.Allocation.Pointers = "encoding/json.(*Decoder).Decode", finding.KindReflect, finding.Yes
	decode.Escape = &finding.Escape{Text: "reflect.New allocates what encoding/json decodes into"}
	prescribed(&decode, finding.Remedy{Code: "pool-buffer", Safety: "review", Text: "read the body into a pooled buffer and call json.Unmarshal on it"},
		finding.Cut{Objects: 0.2, Bytes: 0.55})
	closure := plain(4, at("middleware.Chain[go.shape.struct { Name string }].func2.1", "middleware/chain.go", 29), span95(2.3, 0.5), 192, 3)
	closure.Allocation.Kind = finding.KindClosure
	closure.Escape = &finding.Escape{Text: "the function literal with the variables it captures is stored in `next`, which outlives the call"}
	prescribed(&closure, finding.Remedy{Code: "hoist-closure", Safety: "review", Text: "make the function once, outside of the hot path, and pass what it captures as parameters"},
		finding.Cut{Objects: 1, Bytes: 1})
	cache := plain(5, at("store.(*Cache).put", "store/cache.go", 61), span95(1.9, 0.5), 96, 1)
	cache.Cost.Retention, cache.Cost.InUse = span95(0.9, 0.4), within(4.2*float64(unit.MiB), 0.1)
	cache.Lifetime = finding.Lifetime{Class: finding.LifetimeLeak, Mean: 41 * time.Second}
	cache.Remedy = finding.Remedy{Code: "leave-it", Safety: "safe", Text: "no cure of the catalogue fits: the objects have a long lifetime, so their memory cannot be reused"}
	log := plain(6, at("middleware.logRequest", "middleware/log.go", 19), span95(0.04, 0.03), 16, 1)
	log.Allocation.Kind, log.Lifetime = finding.KindUnknown, finding.Lifetime{}
	return []finding.Row{first, growth, decode, closure, cache, log}
}

// prescribed gives a finding a remedy that saves the cut's share of its cost.
func prescribed(f *finding.Row, r finding.Remedy, cut finding.Cut) {
	r.Saves = finding.Prediction{
		CPU: f.Cost.CPU.Scale(cut.Bytes), BytesPerOp: f.Cost.BytesPerOp.Scale(cut.Bytes), ObjectsPerOp: f.Cost.ObjectsPerOp.Scale(cut.Objects), Cycles: f.Cost.Churn.Scale(3 * cut.Bytes),
		Basis: "direct cost, and the collector's cost without it by the pacer's formula (GOGC)",
	}
	cut.Finding = f.Finding
	f.Remedy, f.Cuts = r, []finding.Cut{cut}
	removal := r.Saves
	removal.CPU = span95(100*r.Saves.CPU.Value+0.4, 1.1)
	removal.Caches = stats.Interval{Value: 0.004, High: 0.008}
	f.Removal = &removal
}

func fixturePrescription() *finding.Prescription {
	return &finding.Prescription{
		Rows: fixtureFindings(), Below: 11, Threshold: 0.01,
		Together: finding.Prediction{CPU: span95(17.9, 2.2), BytesPerOp: within(1406, 0.01), ObjectsPerOp: within(27, 0.01), Cycles: span95(31, 2), Basis: "direct cost, and the collector's cost without it by the pacer's formula (GOGC)"},
	}
}

func fixtureRules() []finding.RuleHit {
	return []finding.RuleHit{{
		Code: "presize-slice", Message: "out is appended to once in each round: make it with capacity len(orders)",
		Cost: finding.LineCost{
			Site: evidence.Site{Function: "github.com/heaptrim/heaptrim/examples/gateway/api.(*Server).listOrders", File: "examples/gateway/api/orders.go", Line: 118},
			Run:  "BenchmarkList/100_items", CPU: span95(8.2, 0.9), BytesPerOp: 48_300, ObjectsPerOp: 11, BytesShare: 0.65, OwnBytes: 1,
		},
	}}
}

func fixtureStacks(pkg string) []finding.Stack {
	frame := func(fn, file string, line int) evidence.Frame {
		return evidence.Frame{Function: fn, File: file, Line: line}
	}
	leaf := []evidence.Frame{
		frame("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go", 1178),
		frame("runtime.convTstring", "/usr/local/go/src/runtime/iface.go", 392),
		frame(pkg+"api.(*Server).cacheKey", "/src/heaptrim/examples/gateway/api/cache.go", 42),
	}
	serve := []evidence.Frame{
		frame(pkg+"api.(*Server).ServeHTTP", "/src/heaptrim/examples/gateway/api/server.go", 54),
		frame("net/http.serverHandler.ServeHTTP", "/usr/local/go/src/net/http/server.go", 3311),
		frame("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go", 2073),
	}
	path := func(share float64, middle ...evidence.Frame) finding.Stack {
		return finding.Stack{Share: share, Frames: append(append(append([]evidence.Frame{}, leaf...), middle...), serve...)}
	}
	return []finding.Stack{
		path(0.71, frame(pkg+"api.(*Server).getOrder", "/src/heaptrim/examples/gateway/api/orders.go", 71)),
		path(0.22, frame(pkg+"api.(*Server).listOrders", "/src/heaptrim/examples/gateway/api/orders.go", 121)),
	}
}

// fixtureSource is the source of the fixture's first finding.
func fixtureSource(string) ([]byte, error) {
	src := "package api\n"
	for range 38 {
		src += "//\n"
	}
	return []byte(src + "// cacheKey names a page of an order.\nfunc (s *Server) cacheKey(id string, page int) string {\n\treturn fmt.Sprintf(\"%s/%d\", id, page)\n}\n\nfunc (s *Server) get(key string) (page, bool) {\n\treturn s.cache.get(key)\n}\n"), nil
}

// fixtureTrace is what a trace window of the gateway could show.
func fixtureTrace() *latency.Trace {
	var paid latency.Split
	paid[latency.Running], paid[latency.AssistCPU], paid[latency.AssistParked] = 9*time.Millisecond, 2*time.Millisecond, 3*time.Millisecond
	request := latency.Request{Start: time.Second, Length: 14 * time.Millisecond, Goroutine: 7, Task: 3, Mark: 12 * time.Millisecond, Split: paid}
	s := &exectrace.Summary{Length: 5 * time.Second, Pauses: []exectrace.Pause{{Reason: "GC mark termination", Count: 12, Total: 600 * time.Microsecond, Max: 90 * time.Microsecond}}}
	s.Cycles.Count, s.Cycles.Mark = 12, 700*time.Millisecond
	return &latency.Trace{File: "trace.out", Summary: s, Delayed: &latency.Report{
		Goroutines: 42, STW: 600 * time.Microsecond,
		Groups: []latency.Group{{Start: "net/http.(*conn).serve", Handler: "/order", Goroutines: 8, Split: paid}},
		Requests: []latency.Requests{{
			Kind: latency.Task, Name: "/order", Count: 900, Total: 2 * time.Second, P50: time.Millisecond, P90: 3 * time.Millisecond, P99: 14 * time.Millisecond,
			Max: 20 * time.Millisecond, All: paid, SlowN: 9, Slow: paid, Slowest: []latency.Request{request},
		}},
		Windows: []latency.Window{{Start: time.Second, End: 2 * time.Second, Paid: paid}},
		Causes: latency.Causes{
			Samples: 200, Mark: 40, Allocating: latency.Tally{All: 60, Mark: 25, Others: 12}, Paid: paid,
			Sites: []latency.Site{{Func: "example.com/gateway.render", File: "render.go", Line: 17, Allocating: latency.Tally{All: 40, Mark: 20, Others: 9}, Share: span95(80, 15), Phases: 6, Paid: paid}},
		},
	}}
}

func fixtureDetections() []finding.Detection {
	return []finding.Detection{
		{Detector: "tiny-heap", Run: "service", Title: "a heap so small that cycles are constant", Code: "gc-headroom", Text: "Give it more room.", Evidence: "58 collections per second of a heap of 4 MiB", Amount: 0.12, Saves: span95(9, 2), Basis: "the pacer's model"},
		{Detector: "limiter", Run: "service", Title: "the collector's CPU limiter was on", Code: "gc-headroom", Text: "Raise the limit.", Evidence: "on in 3 of 9 cycles"},
	}
}
