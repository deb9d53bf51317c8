// Package heaptrim_test holds the rules of the house as tests: which package
// may import which (here), and what every file looks like (house_test.go).
package heaptrim_test

const modulePath = "github.com/heaptrim/heaptrim"

// layer says what the packages of one folder may import of this module and of
// others. A pattern ending in /* stands for the folder and all below it.
type layer struct {
	folder string   // pattern
	ours   []string // patterns; empty means nothing of this module
	others []string // import paths of other modules; a path covers what is below it
	why    string   // what an import beyond these would break
}

// layers is the import policy. The order is that of the pipeline: a package
// may only import what stands above it. The first entry that matches counts.
var layers = []layer{
	{
		folder: "internal/unit",
		why:    "units are a leaf: everything prints quantities, so they must not know what they measure",
	},
	{
		folder: "internal/stats",
		why:    "statistics are a leaf: pure functions of numbers, usable by every stage",
	},
	{
		folder: "internal/evidence",
		ours:   []string{"internal/unit", "internal/stats"},
		why:    "evidence is data that every stage shares; a stage imported here would be imported by all",
	},
	{
		folder: "internal/tempfile",
		why:    "a leaf: how a file takes another's place is the same whatever is in it",
	},
	{
		folder: "internal/ctxio",
		why:    "a leaf: a context ends a reader, whatever is read",
	},
	{
		folder: "internal/input",
		ours:   []string{"internal/ctxio"},
		why:    "a file is opened the same way whatever is in it",
	},
	{
		folder: "internal/gcmodel",
		ours:   []string{"internal/evidence", "internal/stats", "internal/unit"},
		why:    "the model is pure: it computes from values and must not know where they were read",
	},
	{
		folder: "internal/cycles",
		ours:   []string{"internal/evidence", "internal/unit"},
		why:    "a log is summed up from its cycles alone, one by one, wherever they were read",
	},
	{
		folder: "internal/schema",
		ours:   []string{"internal/evidence", "internal/stats"},
		why:    "documents are types that writers and readers share: they must not know who fills them",
	},
	{
		folder: "internal/kernel",
		ours:   []string{"internal/evidence", "internal/stats"},
		why:    "what the kernel did is told from stacks alone, whichever tool recorded them",
	},
	{
		folder: "internal/bundle",
		ours:   []string{"internal/evidence", "internal/tempfile", "internal/unit"},
		others: []string{"github.com/klauspost/compress/zstd"},
		why:    "a bundle is files and a manifest; reading a part is the business of its ingest reader",
	},
	{
		folder: "internal/ingest/benchlog",
		ours:   []string{"internal/evidence", "internal/stats", "internal/unit"},
		others: []string{"golang.org/x/perf"},
		why:    "readers are independent of each other and of what their figures are used for",
	},
	{
		folder: "internal/ingest/pprof",
		ours:   []string{"internal/evidence", "internal/stats", "internal/unit"},
		others: []string{"github.com/klauspost/compress"},
		why:    "the reader streams; google/pprof's own loads a profile whole and serves as the yardstick in tests only",
	},
	{
		folder: "internal/ingest/exectrace",
		ours:   []string{"internal/evidence", "internal/ingest/exectrace/course", "internal/ingest/exectrace/frontier", "internal/ingest/exectrace/hop", "internal/ingest/exectrace/index", "internal/ingest/exectrace/relay", "internal/ingest/exectrace/section", "internal/ingest/exectrace/table", "internal/ingest/exectrace/wire", "internal/stats", "internal/unit"},
		why:    "it reads the wire format itself; x/exp/trace is the yardstick, in tests only",
	},
	{
		folder: "internal/ingest/exectrace/*",
		ours:   []string{"internal/ingest/exectrace/wire", "internal/unit"},
		why:    "numbers of the format, where events begin, and an order of times: who reads a trace is not asked",
	},
	{
		folder: "internal/latency",
		ours:   []string{"internal/ctxio", "internal/evidence", "internal/ingest/exectrace", "internal/ingest/exectrace/table", "internal/stats", "internal/unit"},
		why:    "who pays is told from the events of a trace alone, wherever that came from",
	},
	{
		folder: "internal/finding",
		ours:   []string{"internal/evidence", "internal/latency", "internal/stats", "internal/unit"},
		why:    "findings are data that every stage behind the diagnosis shares: no stage, no open file",
	},
	{
		folder: "internal/ingest/*",
		ours:   []string{"internal/evidence", "internal/stats", "internal/unit"},
		why:    "readers are independent of each other and of what their figures are used for",
	},
	{
		folder: "internal/gocmd",
		ours:   []string{"internal/evidence", "internal/record/process"},
		why:    "the go command is run the same way for whoever needs it, which it must not know",
	},
	{
		folder: "internal/record/recordtest",
		ours:   []string{"internal/bundle", "internal/evidence"},
		others: []string{"golang.org/x/exp"},
		why:    "what tests share knows of recordings what all of them have",
	},
	{
		folder: "internal/record/arguments",
		ours:   []string{"internal/bundle", "internal/evidence"},
		why:    "what a word names is told from the word and what lies there",
	},
	{
		folder: "internal/record/*",
		ours: []string{"internal/bundle", "internal/evidence", "internal/gocmd", "internal/ingest/*", "internal/record/*", "internal/stats",
			"internal/unit"},
		why: "recording only produces a bundle; what it means is diagnosed later, perhaps on another machine",
	},
	{
		folder: "internal/diagnose/*",
		ours: []string{"internal/bundle", "internal/diagnose/*", "internal/evidence", "internal/finding", "internal/gcmodel", "internal/ingest/*",
			"internal/kernel", "internal/stats", "internal/unit"},
		why: "a diagnosis is made from a bundle alone: it starts no process and prints nothing",
	},
	{
		folder: "internal/sourcefile",
		why:    "a rule for names of files, that all who read source share",
	},
	{
		folder: "internal/prescribe/hot",
		ours:   []string{"internal/evidence", "internal/finding", "internal/prescribe/source"},
		why:    "what is worth reading follows from the findings alone",
	},
	{
		folder: "internal/prescribe/callees",
		others: []string{"golang.org/x/tools/go/packages"},
		why:    "which packages take which others with them follows from what imports what",
	},
	{
		folder: "internal/prescribe/layout",
		why:    "sizes of types are told without knowing who asks",
	},
	{
		folder: "internal/prescribe/source",
		ours:   []string{"internal/prescribe/flow", "internal/prescribe/layout", "internal/sourcefile"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what the code says is told without knowing of profiles",
	},
	{
		folder: "internal/prescribe/boxes",
		ours:   []string{"internal/finding", "internal/prescribe/flow", "internal/prescribe/once"},
		others: []string{"golang.org/x/tools/go"},
		why:    "where interface values come from is told from code alone",
	},
	{
		folder: "internal/prescribe/flow",
		others: []string{"golang.org/x/tools/go"},
		why:    "what instructions do is told from SSA form alone",
	},
	{
		folder: "internal/prescribe/idiom",
		ours:   []string{"internal/prescribe/flow"},
		others: []string{"golang.org/x/tools/go"},
		why:    "how something is written is told from types and syntax, for cures and for edits alike",
	},
	{
		folder: "internal/prescribe/contract",
		ours:   []string{"internal/prescribe/flow"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what documentation promises is a table of names and types",
	},
	{
		folder: "internal/prescribe/once",
		ours:   []string{"internal/prescribe/flow"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what would be the same each time is told from SSA form alone",
	},
	{
		folder: "internal/prescribe/rebuilt",
		ours:   []string{"internal/prescribe/flow", "internal/prescribe/idiom"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what a loop makes of a text is told from types and syntax",
	},
	{
		folder: "internal/prescribe/suited",
		ours:   []string{"internal/prescribe/idiom"},
		why:    "what a better call needs is told from types and syntax",
	},
	{
		folder: "internal/prescribe/mapkey",
		ours:   []string{"internal/prescribe/flow"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what is done with the keys of a map is told from SSA form alone",
	},
	{
		folder: "internal/prescribe/written",
		ours:   []string{"internal/finding", "internal/prescribe/flow", "internal/prescribe/idiom", "internal/prescribe/rebuilt"},
		others: []string{"golang.org/x/tools/go"},
		why:    "a rule that asks how something is written knows nothing of stacks and costs",
	},
	{
		folder: "internal/prescribe/way",
		ours:   []string{"internal/evidence", "internal/finding", "internal/prescribe/flow", "internal/prescribe/idiom", "internal/prescribe/life", "internal/prescribe/once", "internal/prescribe/source"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what a stack shows is told from it and from code, whatever its cure",
	},
	{
		folder: "internal/prescribe/match",
		ours:   []string{"internal/finding", "internal/prescribe/source"},
		why:    "which expression made an allocation follows from its kind and its sizes",
	},
	{
		folder: "internal/prescribe/holder",
		ours:   []string{"internal/evidence", "internal/prescribe/flow", "internal/prescribe/source"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what holds memory is told from types alone",
	},
	{
		folder: "internal/prescribe/sourcetest",
		ours:   []string{"internal/prescribe/source"},
		why:    "what tests share reads source and knows no more",
	},
	{
		folder: "internal/prescribe/life",
		ours:   []string{"internal/evidence", "internal/finding", "internal/prescribe/boxes", "internal/prescribe/contract", "internal/prescribe/flow", "internal/prescribe/source"},
		others: []string{"golang.org/x/tools/go"},
		why:    "what becomes of a value is told from stacks and code, without knowing of costs or cures",
	},
	{
		folder: "internal/prescribe/advice",
		ours:   []string{"internal/finding", "internal/prescribe/cures", "internal/stats"},
		why:    "what helps a program as a whole follows from its totals",
	},
	{
		folder: "internal/prescribe/rank",
		ours:   []string{"internal/diagnose", "internal/evidence", "internal/finding", "internal/prescribe/cures", "internal/stats", "internal/unit"},
		why:    "rows are ranked by their figures, whatever named their cures",
	},
	{
		folder: "internal/prescribe/waste",
		ours:   []string{"internal/finding", "internal/prescribe/flow", "internal/prescribe/idiom", "internal/prescribe/life", "internal/prescribe/source"},
		why:    "work that is not needed is seen in the source and in the costs of lines, whatever its cure",
	},
	{
		folder: "internal/prescribe/regrowth",
		ours:   []string{"internal/finding", "internal/unit"},
		why:    "a sum over block sizes, whatever they are of",
	},
	{
		folder: "internal/prescribe/library",
		ours:   []string{},
		why:    "facts about calls, which need nothing",
	},
	{
		folder: "internal/prescribe/cures",
		ours:   []string{},
		why:    "the catalogue is data",
	},
	{
		folder: "internal/prescribe/*",
		ours:   []string{"internal/diagnose", "internal/evidence", "internal/finding", "internal/prescribe/*", "internal/stats", "internal/unit"},
		why:    "a cure is chosen from a diagnosis and the source: it measures nothing and prints nothing",
	},
	{
		folder: "internal/detect",
		ours:   []string{"internal/diagnose", "internal/diagnose/stack", "internal/evidence", "internal/finding", "internal/kernel", "internal/prescribe/cures", "internal/stats", "internal/unit"},
		why:    "a detector judges what a diagnosis measured and names a cure of the catalogue: it reads no file",
	},
	{
		folder: "internal/check",
		ours: []string{"internal/bundle", "internal/detect", "internal/diagnose", "internal/evidence", "internal/finding", "internal/gcmodel",
			"internal/fix", "internal/latency", "internal/prescribe", "internal/prescribe/cures", "internal/record/arguments", "internal/stats", "internal/tune", "internal/unit", "internal/vet"},
		why: "the pipeline wires the stages from a bundle to a report: how that was recorded and how it is shown are others' business",
	},
	{
		folder: "internal/rewrite",
		ours:   []string{"internal/rewrite/again", "internal/rewrite/branch", "internal/rewrite/code", "internal/rewrite/copies", "internal/rewrite/gather", "internal/rewrite/idiom", "internal/rewrite/key", "internal/rewrite/memory", "internal/rewrite/once", "internal/rewrite/owner", "internal/rewrite/parts", "internal/rewrite/putback", "internal/rewrite/sum", "internal/rewrite/text", "internal/rewrite/value", "internal/rewrite/view", "internal/sourcefile"},
		others: []string{"golang.org/x/tools/go"},
		why:    "an edit is made from source and types: whether it pays is for a trial, and who wants it is not asked",
	},
	{
		folder: "internal/rewrite/code",
		others: []string{"github.com/rogpeppe/go-internal/diff", "golang.org/x/tools/go"},
		why:    "what all kinds of edit ask of source and types",
	},
	{
		folder: "internal/rewrite/idiom",
		ours:   []string{"internal/prescribe/idiom", "internal/rewrite/code"},
		others: []string{"golang.org/x/tools/go"},
		why:    "an edit of an idiom asks the facts that its cure asks",
	},
	{
		folder: "internal/rewrite/again",
		ours:   []string{"internal/prescribe/written", "internal/rewrite/code", "internal/rewrite/idiom"},
		others: []string{"golang.org/x/tools/go"},
		why:    "an edit of a way of writing asks the facts that its cure asks",
	},
	{
		folder: "internal/rewrite/*",
		ours:   []string{"internal/rewrite/code"},
		others: []string{"golang.org/x/tools/go"},
		why:    "kinds of edit do not know each other",
	},
	{
		folder: "internal/trial/version",
		ours:   []string{"internal/gocmd", "internal/record/process"},
		why:    "tests of any version are built and run without knowing what for",
	},
	{
		folder: "internal/trial/platform",
		ours:   []string{"internal/gocmd", "internal/trial/version"},
		others: []string{"golang.org/x/tools/go"},
		why:    "types are checked for any platform, without knowing what was changed for which reason",
	},
	{
		folder: "internal/trial/equal/watch",
		why:    "compiled into other people's tests: the standard library only",
	},
	{
		folder: "internal/trial/equal",
		ours:   []string{"internal/gocmd", "internal/trial/equal/watch", "internal/trial/version"},
		others: []string{"golang.org/x/tools/go"},
		why:    "versions are compared by what they do, whoever changed what for which reason",
	},
	{
		folder: "internal/trial",
		ours:   []string{"internal/gocmd", "internal/ingest/benchlog", "internal/trial/equal", "internal/trial/platform", "internal/trial/version"},
		why:    "a trial builds, counts and tests any change of source, whoever made it",
	},
	{
		folder: "internal/fix/hands",
		ours:   []string{"internal/record/process"},
		why:    "an outside program gets a copy and limits: what it is asked and how it is judged is others' business",
	},
	{
		folder: "internal/fix/repo",
		why:    "git is asked and told by itself: what is committed, and why, others know",
	},
	{
		folder: "internal/fix/journal",
		ours:   []string{"internal/fix/repo", "internal/tempfile"},
		why:    "files are changed all or none, whoever made the change for which reason",
	},
	{
		folder: "internal/fix",
		ours: []string{"internal/evidence", "internal/finding", "internal/fix/genbench", "internal/fix/hands", "internal/fix/repo", "internal/gocmd", "internal/prove", "internal/prove/sides", "internal/rewrite",
			"internal/rewrite/code", "internal/stats", "internal/trial", "internal/trial/version"},
		why: "a search takes findings, edits and trials together: it records nothing and shows nothing",
	},
	{
		folder: "internal/fix/genbench",
		why:    "a benchmark is written from source alone, whoever wants it run",
	},
	{
		folder: "internal/fix/service",
		ours:   []string{"internal/fix", "internal/prove", "internal/record/command", "internal/trial"},
		why:    "a command takes the place of benchmarks by the same questions: the search does not know which it asks",
	},
	{
		folder: "internal/disasm",
		ours:   []string{"internal/bundle", "internal/evidence", "internal/ingest/objdump", "internal/record/after", "internal/web"},
		why:    "machine code is found for whoever shows a function",
	},
	{
		folder: "internal/prove/*",
		ours: []string{"internal/evidence", "internal/gocmd", "internal/ingest/*", "internal/prove/*", "internal/record/host", "internal/record/process",
			"internal/record/secret",
			"internal/stats", "internal/unit"},
		others: []string{"golang.org/x/perf"},
		why:    "a proof runs programs and compares what they measure of themselves; it must not know who wants it, so that fix, tune and guard can",
	},
	{
		folder: "internal/guard/budget",
		why:    "budgets are lines and numbers: who measures them is others' business",
	},
	{
		folder: "internal/guard/bisect",
		ours:   []string{"internal/guard/budget"},
		why:    "a search for a commit does not know how commits are counted",
	},
	{
		folder: "internal/guard/affected",
		ours:   []string{"internal/gocmd"},
		why:    "what a change can affect is told from the import graph alone",
	},
	{
		folder: "internal/guard/count",
		ours: []string{"internal/gocmd", "internal/guard/budget", "internal/ingest/benchlog", "internal/record/host", "internal/record/process",
			"internal/trial/version"},
		why: "counting knows no version but the one that it counts",
	},
	{
		folder: "internal/guard/growth",
		ours: []string{"internal/diagnose/*", "internal/evidence", "internal/finding", "internal/guard/budget", "internal/guard/count",
			"internal/ingest/escapes", "internal/ingest/pprof"},
		others: []string{"github.com/rogpeppe/go-internal/diff"},
		why:    "what grew is found by comparing two versions, whatever a budget says",
	},
	{
		folder: "internal/guard/shelf",
		ours:   []string{"internal/guard/budget", "internal/prove/sides", "internal/tempfile"},
		why:    "where budgets are kept knows nothing of how they are measured",
	},
	{
		folder: "internal/guard/limits",
		ours: []string{"internal/bundle", "internal/check", "internal/evidence", "internal/ingest/metrics", "internal/record/host", "internal/record/live",
			"internal/stats", "internal/unit"},
		why: "a running service is held to limits by a recording of it",
	},
	{
		folder: "internal/guard/contract",
		ours:   []string{"internal/diagnose/alloc", "internal/evidence", "internal/finding"},
		others: []string{"golang.org/x/tools/go"},
		why:    "promises are read and judged from what others ran and compiled",
	},
	{
		folder: "internal/guard",
		ours: []string{"internal/bundle", "internal/check", "internal/evidence", "internal/finding", "internal/gocmd", "internal/guard/*",
			"internal/ingest/escapes", "internal/ingest/pprof", "internal/prove/sides", "internal/record/files", "internal/record/host", "internal/tempfile"},
		why: "budgets are kept by counting; how that is shown is others' business",
	},
	{
		folder: "internal/report/term",
		ours:   []string{"internal/schema", "internal/stats"},
		why:    "how a terminal is written to is the same for all reports, and knows none",
	},
	{
		folder: "internal/report/progress",
		ours:   []string{"internal/report/term"},
		others: []string{"golang.org/x/term"},
		why:    "what goes on is shown in one line, whatever it is",
	},
	{
		folder: "internal/report/bar",
		ours:   []string{"internal/finding", "internal/report/term", "internal/stats", "internal/unit"},
		why:    "the decomposition is drawn as it was made",
	},
	{
		folder: "internal/report/facts",
		ours:   []string{"internal/evidence", "internal/finding", "internal/report/machine", "internal/report/term", "internal/unit"},
		why:    "the basis of a report is written as it was diagnosed",
	},
	{
		folder: "internal/report/codehost",
		why:    "files and lines are named for code hosts by their text alone, whatever is found in them",
	},
	{
		folder: "internal/report/md",
		ours:   []string{"internal/report/term"},
		why:    "how Markdown is written is the same for all reports, and knows none",
	},
	{
		folder: "internal/report/gclog",
		ours:   []string{"internal/cycles", "internal/evidence", "internal/report/term", "internal/schema", "internal/unit"},
		why:    "the summary of a log is shown as it was made",
	},
	{
		folder: "internal/report/kernelwork",
		ours:   []string{"internal/evidence", "internal/ingest/perf", "internal/ingest/pprof", "internal/kernel", "internal/report/term", "internal/stats", "internal/unit"},
		why:    "the kernel's work is shown as it was counted",
	},
	{
		folder: "internal/report/catalogue",
		ours:   []string{"internal/prescribe/cures", "internal/report/term"},
		why:    "the catalogue is shown as it is, whatever a recording says",
	},
	{
		folder: "internal/report/tuning",
		ours: []string{"internal/gcmodel", "internal/prove", "internal/report/term", "internal/schema", "internal/stats", "internal/tune",
			"internal/unit"},
		why: "a plan is shown as it was made",
	},
	{
		folder: "internal/report/proof",
		ours: []string{"internal/evidence", "internal/prove", "internal/prove/sides", "internal/report/*", "internal/schema", "internal/stats",
			"internal/unit"},
		why: "a comparison is shown as it was made",
	},
	{
		folder: "internal/report/fixes",
		ours:   []string{"internal/finding", "internal/fix", "internal/prove", "internal/report/md", "internal/report/term", "internal/schema", "internal/stats"},
		others: []string{"github.com/rogpeppe/go-internal/diff"},
		why:    "what was tried is shown as it came out",
	},
	{
		folder: "internal/report/budgets",
		ours: []string{"internal/evidence", "internal/finding", "internal/guard", "internal/guard/budget", "internal/guard/contract", "internal/guard/growth", "internal/guard/limits", "internal/report/*",
			"internal/schema", "internal/stats", "internal/unit"},
		why: "what guard found is shown as it came out",
	},
	{
		folder: "internal/report/trace",
		ours: []string{"internal/ingest/exectrace", "internal/latency", "internal/report/reporttest", "internal/report/term", "internal/schema",
			"internal/stats", "internal/unit"},
		why: "who paid is shown as it was read from the trace",
	},
	{
		folder: "internal/report/*",
		ours: []string{"internal/evidence", "internal/finding", "internal/ingest/pprof", "internal/latency", "internal/prescribe/cures", "internal/report/*",
			"internal/schema", "internal/stats", "internal/unit"},
		why: "a report reads every noun, computes nothing and changes none; ingest/pprof is there to write profiles",
	},
	{
		folder: "internal/web/history",
		ours:   []string{"internal/guard", "internal/guard/budget"},
		why:    "a history is drawn as it was kept",
	},
	{
		folder: "internal/web/serve",
		ours:   []string{"internal/web"},
		why:    "a page is served and made anew whoever makes it",
	},
	{
		folder: "internal/web",
		ours:   []string{"internal/diagnose", "internal/evidence", "internal/finding", "internal/schema", "internal/stats", "internal/unit"},
		why:    "the page shows a diagnosis and the report that it is handed: it opens no recording and knows no other format",
	},
	{
		folder: "internal/load",
		why:    "a load knows a URL and a rate: what it is for is others' business",
	},
	{
		folder: "internal/tune",
		ours: []string{"internal/bundle", "internal/diagnose", "internal/evidence", "internal/finding", "internal/gcmodel", "internal/ingest/*", "internal/prove", "internal/prove/sides",
			"internal/stats", "internal/unit"},
		why: "tuning reads a bundle, asks the model and runs programs through prove; what is shown of it is the business of show",
	},
	{
		folder: "analyzers/internal/code",
		others: []string{"golang.org/x/tools/go"},
		why:    "what is asked of source is the same for all rules, and knows none",
	},
	{
		folder: "analyzers/golangci",
		ours:   []string{"analyzers"},
		others: []string{"github.com/golangci/plugin-module-register", "golang.org/x/tools/go"},
		why:    "the plugin hands the analysers on as they are; its interface is no dependency of theirs",
	},
	{
		folder: "analyzers",
		ours:   []string{"analyzers/internal/code"},
		others: []string{"golang.org/x/tools/go"},
		why:    "the analysers are public and judge source alone: what a profile says is not theirs to know",
	},
	{
		folder: "internal/vet",
		ours:   []string{"analyzers"},
		others: []string{"golang.org/x/tools/go"},
		why:    "vet carries the analysers' words to whoever has a profile, and knows none itself",
	},
	{
		folder: "internal/guard/contract/analyzer",
		ours:   []string{"internal/evidence", "internal/gocmd", "internal/guard/contract", "internal/ingest/escapes"},
		others: []string{"golang.org/x/tools/go/analysis"},
		why:    "the part of the contracts that needs no run, for go vet",
	},
	{
		folder: "cmd/heaptrimvet",
		ours:   []string{"analyzers", "internal/guard/contract/analyzer"},
		others: []string{"golang.org/x/tools/go/analysis"},
		why:    "the vettool is a list of analysers and a driver",
	},
	{
		folder: "examples/gateway/*",
		ours:   []string{"examples/gateway"},
		why:    "the example stands for a user's program, which has never heard of heaptrim",
	},
	{
		folder: "cmd/heaptrim",
		ours:   []string{"internal/*"},
		why:    "commands are thin: they wire stages together and leave other people's modules to those",
	},
}

// forbidden explains the imports that someone may one day want, with the
// reason against each. They are outside the layers above in any case.
var forbidden = []struct{ from, to, why string }{
	{"internal/*", "cmd/*", "commands depend on the stages, never the reverse"},
	{"internal/ingest/*", "internal/bundle", "a reader takes an io.Reader, so that a file of any origin can be read"},
	{"internal/ingest/*", "internal/ingest/*", "a reader that needs another's result gets it as a value of evidence"},
	{"internal/record/*", "internal/diagnose/*", "a recording must be possible where nobody looks at it"},
	{"internal/diagnose/*", "internal/record/*", "a diagnosis must be repeatable from the bundle alone"},
	{"internal/diagnose/*", "internal/report/*", "what is found must not depend on how it is shown"},
	{"internal/report/*", "internal/bundle", "all that is shown must be in the diagnosis, else two formats could differ"},
	{"internal/gcmodel", "internal/ingest/*", "the model is tested with numbers, not with files"},
}
