package report

import "time"

// Schema is the version of the JSON report that this code writes. Within one
// version keys are added, never removed, renamed or given another meaning;
// doc/format/report.md is its specification.
const Schema = "heaptrim.report/1"

// The types below are the JSON report. They repeat the nouns of a diagnosis on
// purpose: those may move, the schema may not. Every key is always there; a
// nil pointer is an unknown number or object, an empty string an unknown text,
// and a list is never null.
type (
	document struct {
		Schema        string          `json:"schema"`
		Tool          string          `json:"tool"`
		Created       *time.Time      `json:"created"`
		Target        target          `json:"target"`
		Environment   environment     `json:"environment"`
		Totals        totals          `json:"totals"`
		Decomposition []bucket        `json:"decomposition"`
		Findings      []finding       `json:"findings"`
		SetApart      []finding       `json:"set_apart"`
		Advice        []advisedThing  `json:"advice"`
		Threshold     *float64        `json:"threshold"`
		Below         int             `json:"below_threshold"`
		Together      predictedSaved  `json:"together"`
		Detections    []detection     `json:"detections"`
		Latency       *latencySection `json:"latency"`
		Vet           []ruleHit       `json:"vet"`
		Runs          []runSummary    `json:"runs"`
		Missing       []missingThing  `json:"missing"`
		Warnings      []string        `json:"warnings"`
	}

	target struct {
		Kind       string   `json:"kind"`
		Args       []string `json:"args"`
		Module     string   `json:"module"`
		ModuleDir  string   `json:"module_dir"`
		Workspace  []string `json:"workspace"`
		Packages   []string `json:"packages"`
		BuildFlags []string `json:"build_flags"`
		Command    []string `json:"command"`
	}

	environment struct {
		GoVersion        string   `json:"go_version"`
		GOOS             string   `json:"goos"`
		GOARCH           string   `json:"goarch"`
		GOMAXPROCS       *float64 `json:"gomaxprocs"`
		NumCPU           *float64 `json:"num_cpu"`
		GOGC             string   `json:"gogc"`
		GOMEMLIMIT       string   `json:"gomemlimit"`
		GODEBUG          string   `json:"godebug"`
		GOEXPERIMENT     string   `json:"goexperiment"`
		MemoryBytes      *float64 `json:"memory_bytes"`
		CgroupLimitBytes *float64 `json:"cgroup_limit_bytes"`
		CgroupCPU        *float64 `json:"cgroup_cpu"`
		THP              string   `json:"transparent_huge_pages"`
		CPUModel         string   `json:"cpu_model"`
		Kernel           string   `json:"kernel"`
	}

	totals struct {
		CPUSeconds     *float64  `json:"cpu_seconds"`
		Samples        *float64  `json:"samples"`
		MemoryShare    *interval `json:"memory_share"`
		CollectorShare *interval `json:"collector_share"`
		IdleMarkShare  *interval `json:"idle_mark_share"`
		Sites          *interval `json:"sites"`
		Remainder      *interval `json:"remainder"`
		Cycles         *float64  `json:"cycles"`
		ForcedCycles   *float64  `json:"forced_cycles"`
		CyclesPerS     *float64  `json:"cycles_per_s"`
		LiveHeapBytes  *float64  `json:"live_heap_bytes"`
		HeapGoalBytes  *float64  `json:"heap_goal_bytes"`
		NoHeapGoal     bool      `json:"no_heap_goal"`
		PeakHeapBytes  *float64  `json:"peak_heap_bytes"`
		PauseP50NS     *float64  `json:"pause_p50_ns"`
		PauseMaxNS     *float64  `json:"pause_max_ns"`
		PauseTotalNS   *float64  `json:"pause_total_ns"`
		BytesPerS      *float64  `json:"bytes_per_s"`
		Why            string    `json:"why"`
		RetentionBasis string    `json:"retention_basis"`
	}

	interval struct {
		Value float64 `json:"value"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}

	bucket struct {
		Name     string    `json:"name"`
		CPUShare *interval `json:"cpu_share"`
		Memory   bool      `json:"memory"`
		Charged  bool      `json:"charged"`
	}

	finding struct {
		Rank       int            `json:"rank"`
		Code       string         `json:"code"`
		Title      string         `json:"title"`
		Site       site           `json:"site"`
		Run        string         `json:"run"`
		Via        string         `json:"via"`
		Kind       string         `json:"kind"`
		Mix        []mixed        `json:"mix"`
		Sizes      []sizeCount    `json:"sizes"`
		Pointers   *bool          `json:"pointers"`
		Stack      []frame        `json:"stack"`
		StackShare *float64       `json:"stack_share"`
		Stacks     []stack        `json:"stacks"`
		Cost       cost           `json:"cost"`
		ByRun      []runCost      `json:"by_run"`
		Lifetime   lifetime       `json:"lifetime"`
		Escape     *escapeReason  `json:"escape"`
		Remedy     remedy         `json:"remedy"`
		Prediction predictedSaved `json:"prediction"`
		// Removal is null where the finding is no allocation site.
		Removal *predictedSaved `json:"removal"`
		Others  []otherRemedy   `json:"others"`
	}

	mixed struct {
		Kind    string   `json:"kind"`
		Via     string   `json:"via"`
		Objects *float64 `json:"objects_share"`
		Bytes   *float64 `json:"bytes_share"`
	}

	sizeCount struct {
		Bytes   int64    `json:"block_bytes"`
		Objects *float64 `json:"objects"`
	}

	site struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
		Package  string `json:"package"`
	}

	frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}

	stack struct {
		Share  *float64 `json:"share"`
		Frames []frame  `json:"frames"`
	}

	cost struct {
		CPUShare     *interval     `json:"cpu_share"`
		Malloc       *float64      `json:"malloc"`
		Zeroing      *float64      `json:"zeroing"`
		GrowCopy     *float64      `json:"growcopy"`
		Assist       *float64      `json:"assist"`
		Churn        *float64      `json:"churn"`
		Retention    *float64      `json:"retention"`
		BytesPerOp   *float64      `json:"bytes_per_op"`
		ObjectsPerOp *float64      `json:"objects_per_op"`
		BytesPerS    *float64      `json:"bytes_per_s"`
		ObjectsPerS  *float64      `json:"objects_per_s"`
		InUseBytes   *float64      `json:"in_use_bytes"`
		InUseObjects *float64      `json:"in_use_objects"`
		BytesAll     *float64      `json:"bytes"`
		ObjectsAll   *float64      `json:"objects"`
		Intervals    costIntervals `json:"intervals"`
	}

	costIntervals struct {
		Malloc       *interval `json:"malloc"`
		Zeroing      *interval `json:"zeroing"`
		GrowCopy     *interval `json:"growcopy"`
		Assist       *interval `json:"assist"`
		Churn        *interval `json:"churn"`
		Retention    *interval `json:"retention"`
		BytesPerOp   *interval `json:"bytes_per_op"`
		ObjectsPerOp *interval `json:"objects_per_op"`
		BytesPerS    *interval `json:"bytes_per_s"`
		ObjectsPerS  *interval `json:"objects_per_s"`
		InUseBytes   *interval `json:"in_use_bytes"`
	}

	runCost struct {
		Run  string `json:"run"`
		Cost cost   `json:"cost"`
	}

	lifetime struct {
		Class  string   `json:"class"`
		MeanNS *float64 `json:"mean_ns"`
		Basis  string   `json:"basis"`
	}

	escapeReason struct {
		Reason    string `json:"reason"`
		Expr      string `json:"expr"`
		Verb      string `json:"verb"`
		File      string `json:"file"`
		Line      int    `json:"line"`
		Column    *int   `json:"column"`
		Flow      []flow `json:"flow"`
		Truncated bool   `json:"truncated"`
	}

	flow struct {
		Dst   string     `json:"dst"`
		Src   string     `json:"src"`
		Edges []flowEdge `json:"edges"`
	}

	flowEdge struct {
		Expr   string `json:"expr"`
		Why    string `json:"why"`
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}

	remedy struct {
		Code   string `json:"code"`
		Safety string `json:"safety"`
		Text   string `json:"text"`
		Why    string `json:"why"`
		// Fit weighs the saving when findings are ranked.
		Fit *float64 `json:"fit"`
	}

	otherRemedy struct {
		remedy
		Prediction predictedSaved `json:"prediction"`
	}

	advisedThing struct {
		remedy
		Title      string         `json:"title"`
		Prediction predictedSaved `json:"prediction"`
	}

	ruleHit struct {
		Code       string    `json:"code"`
		Message    string    `json:"message"`
		Site       site      `json:"site"`
		Run        string    `json:"run"`
		CPUShare   *interval `json:"cpu_share"`
		BytesShare *float64  `json:"bytes_share"`
	}

	predictedSaved struct {
		CPUShare     *interval          `json:"cpu_share"`
		CachesShare  *interval          `json:"caches_share"`
		CyclesShare  *interval          `json:"cycles_share"`
		BytesPerOp   *float64           `json:"bytes_per_op"`
		ObjectsPerOp *float64           `json:"objects_per_op"`
		Intervals    predictedIntervals `json:"intervals"`
		Basis        string             `json:"basis"`
	}

	predictedIntervals struct {
		BytesPerOp   *interval `json:"bytes_per_op"`
		ObjectsPerOp *interval `json:"objects_per_op"`
	}

	runSummary struct {
		Name            string      `json:"name"`
		Package         string      `json:"package"`
		Ops             *float64    `json:"ops"`
		NsPerOp         *float64    `json:"ns_per_op"`
		BytesPerOp      *float64    `json:"bytes_per_op"`
		AllocsPerOp     *float64    `json:"allocs_per_op"`
		CyclesPerKiloOp *float64    `json:"cycles_per_1000_ops"`
		MemoryShare     *interval   `json:"memory_share"`
		CPUSecondsPerOp *float64    `json:"cpu_seconds_per_op"`
		RequestsPerS    *float64    `json:"requests_per_s"`
		ProfilePace     *float64    `json:"profile_pace"`
		PageFaults      *pageFaults `json:"page_faults"`
		FreshLine       *freshLine  `json:"fresh_line"`
		CycleCost       *cycleCost  `json:"cycle_cost"`
	}

	freshLine struct {
		Threads    int       `json:"threads"`
		LiveBytes  int64     `json:"live_bytes"`
		FreshBytes int64     `json:"fresh_bytes"`
		NS         *interval `json:"ns"`
		UseNS      *float64  `json:"use_ns"`
	}

	pageFaults struct {
		AlonePerOp    *float64  `json:"alone_per_op"`
		ProfiledPerOp *float64  `json:"profiled_per_op"`
		NS            *interval `json:"ns"`
		SamplesCount  *float64  `json:"samples_count"`
	}

	cycleCost struct {
		Pairs int       `json:"pairs"`
		Times float64   `json:"times"`
		NS    *interval `json:"ns"`
	}

	missingThing struct {
		What string `json:"what"`
		Adds string `json:"adds"`
	}
)
