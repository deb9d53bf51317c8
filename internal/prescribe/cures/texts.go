package cures

var keepOnStack = Cure{
	Code:  "keep-on-stack",
	Title: "keep the value on the stack",
	Why: "A value whose address does not outlive the function needs no heap: no malloc, no zeroing, nothing for the collector to mark. " +
		"Returning a value instead of a pointer, filling one that the caller owns, or moving the escaping use out of the hot path is often enough.",
	Before:  "func newPoint(x, y int) *Point {\n\treturn &Point{x, y}\n}",
	After:   "func newPoint(x, y int) Point {\n\treturn Point{x, y}\n}",
	Safety:  Review,
	Needs:   "the compiler's escape reason and flow",
	WhenNot: "When the value is shared, compared by address, or large.",
}

var unboxInterface = Cure{
	Code:  UnboxInterface,
	Title: "do not box the value in an interface",
	Why: "Converting a value other than a pointer to an interface copies it to the heap, unless the compiler can " +
		"prove that the interface does not escape. " +
		"A concrete type, a type parameter, an existing pointer, or a branch before the conversion avoids the copy.",
	Before:  "func assert(ok bool, format string, args ...any) {\n\tif !ok {\n\t\tpanic(fmt.Sprintf(format, args...))\n\t}\n}\n\nassert(n < max, \"too many: %d\", n) // n is boxed although the test holds",
	After:   "if n >= max {\n\tpanic(fmt.Sprintf(\"too many: %d\", n))\n}",
	Safety:  Review,
	Needs:   "the kind of allocation; for the replacement, the source and the escape flow",
	WhenNot: "When the interface is stored: the value needs memory of its own.",
}

var hoistClosure = Cure{
	Code:  "hoist-closure",
	Title: "make the function value once, or not at all",
	Why: "A function literal that captures variables and outlives the line is an object on the heap. Variables " +
		"that it captures by reference move to the heap too. " +
		"A method value x.M is a closure as well.",
	Before:  "for _, j := range jobs {\n\trun(func() { j.Do(ctx) })\n}",
	After:   "for _, j := range jobs {\n\trun(ctx, j) // takes the job itself\n}",
	Safety:  Review,
	Needs:   "the kind of allocation",
	WhenNot: "When each closure has to hold values of its own.",
}

var presizeSlice = Cure{
	Code:  "presize-slice",
	Title: "make the slice with its final capacity",
	Why: "append doubles a slice that is full: it allocates a new array and copies the old one. A slice of n elements that begins empty " +
		"is allocated about log₂ n times and costs twice its final size in garbage.",
	Before:  "var names []string\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	After:   "names := make([]string, 0, len(users))\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site; for the capacity, the source",
	WhenNot: "When the bound is far above what is usually appended: the slice then wastes memory.",
}

var presizeMap = Cure{
	Code:  "presize-map",
	Title: "make the map with its final size",
	Why: "A map that fills up grows by making larger tables and moving every entry. With a size hint the tables are made once, " +
		"large enough.",
	Before:  "seen := make(map[string]int)\nfor _, w := range words {\n\tseen[w]++\n}",
	After:   "seen := make(map[string]int, len(words))\nfor _, w := range words {\n\tseen[w]++\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site; for the size, the source",
	WhenNot: "When the hint is far above what is usually stored: the tables then waste memory.",
}

var presizeBuilder = Cure{
	Code:    "presize-builder",
	Title:   "grow the builder or buffer once to its final size",
	Why:     "A strings.Builder or bytes.Buffer grows as append does: each time it is full it allocates twice the size and copies.",
	Before:  "var b strings.Builder\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	After:   "var b strings.Builder\nb.Grow(total(parts))\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site",
	WhenNot: "When most texts are short: the first block that the builder allocates is enough.",
}

var avoidConversion = Cure{
	Code:  "avoid-conversion",
	Title: "do not convert, format or split through new memory",
	Why: "Converting between string and []byte copies. Every + makes a new string. fmt boxes its arguments and formats into a string of its own. " +
		"Split makes a slice for all parts, though often only one is used. Appending to an existing buffer, or working on the original, needs none of this memory.",
	Before:  "host := strings.Split(addr, \":\")[0]\nbuf = append(buf, []byte(fmt.Sprintf(\"%d\", n))...)",
	After:   "host, _, _ := strings.Cut(addr, \":\")\nbuf = strconv.AppendInt(buf, n, 10)",
	Safety:  Review,
	Needs:   "the kind of allocation, or the library call; for the better call, the source",
	WhenNot: "When the text is kept: someone has to make one copy.",
}

var cacheCompiled = Cure{
	Code:  "cache-compiled",
	Title: "compute it once and keep the result",
	Why: "Regular expressions, templates, replacers, time zones and the results of reflection on a type are the " +
		"same every time. " +
		"Made once, in a package variable, a sync.OnceValue or a map by key, they cost nothing afterwards.",
	Before:  "func clean(s string) string {\n\treturn regexp.MustCompile(`\\s+`).ReplaceAllString(s, \" \")\n}",
	After:   "var spaces = regexp.MustCompile(`\\s+`)\n\nfunc clean(s string) string {\n\treturn spaces.ReplaceAllString(s, \" \")\n}",
	Safety:  Review,
	Needs:   "the library call; whether its arguments are constant, from the source",
	WhenNot: "When the inputs vary without bound: the cache would grow for ever.",
}

var internString = Cure{
	Code:  "intern-string",
	Title: "keep one copy of equal strings",
	Why: "Texts that are read repeatedly, such as names, labels and keys, fill the heap with equal copies. One " +
		"copy for each value, " +
		"from a map or from package unique, makes the live heap smaller and comparison cheaper.",
	Before:  "r.Label = string(field)",
	After:   "r.Label = labels.intern(field) // map[string]string; a lookup by string(field) does not allocate",
	Safety:  Review,
	Needs:   "the lifetime of the strings",
	WhenNot: "When the values are mostly different: the map then holds them all without benefit.",
}

var reuseBuffer = Cure{
	Code:  "reuse-buffer",
	Title: "use the same memory again",
	Why: "A buffer that the loop, the receiver or the caller owns can be cut to length zero and filled again. That is cheaper than any pool: " +
		"no lookup, no reset of what is not used, nothing for the collector.",
	Before:  "for _, r := range records {\n\tbuf := make([]byte, 0, 1024)\n\tbuf = r.AppendTo(buf)\n\tw.Write(buf)\n}",
	After:   "buf := make([]byte, 0, 1024)\nfor _, r := range records {\n\tbuf = r.AppendTo(buf[:0])\n\tw.Write(buf)\n}",
	Safety:  Review,
	Needs:   "the kind of allocation and the lifetime; for the owner, the source",
	WhenNot: "When other code keeps the buffer after the iteration.",
}

var poolBuffer = Cure{
	Code:  "pool-buffer",
	Title: "take buffers from a pool by size",
	Why: "Byte buffers of varying size that live for one request are classic garbage. A pool with size classes lends out a buffer that is large enough " +
		"and takes it back. It wastes little memory; a single pool for all sizes soon holds only buffers of the largest size.",
	Before:  "body, err := io.ReadAll(r)\nif err != nil {\n\treturn err\n}\nreturn json.Unmarshal(body, v)",
	After:   "buf := buffers.Get(size) // pool.Bytes of rt/pool\ndefer buffers.Put(buf)\n",
	Safety:  Review,
	Needs:   "element type, block sizes and lifetime",
	WhenNot: "When the buffer goes to code that may keep it, or is tiny.",
}

var poolObject = Cure{
	Code:  "pool-object",
	Title: "keep the objects in a pool",
	Why: "Objects that live for one request and are expensive to make – large, slow to initialise, or allocating " +
		"themselves – can pass from one request " +
		"to the next. Objects in the pool are not garbage, so cycles become rarer.",
	Before:  "zw := gzip.NewWriter(w)\ndefer zw.Close()",
	After:   "zw := writers.Get().(*gzip.Writer)\ndefer writers.Put(zw)\nzw.Reset(w)\ndefer zw.Close()",
	Safety:  Review,
	Needs:   "type, size and lifetime of the objects",
	WhenNot: "For tiny objects a pool costs as much as malloc; objects that other code may keep must not go back.",
}

var poolMisuse = Cure{
	Code:  "pool-misuse",
	Title: "make the pool work",
	Why: "A pool whose New allocates on most calls saves nothing: objects are not put back, they are boxed on " +
		"Put, or collections empty the pool faster than it is used. " +
		"sync.Pool stores only pointers without boxing, and drops objects that stayed unused for two collections.",
	Before:  "b := pool.Get().([]byte)\ndefer pool.Put(b) // boxes the slice header: 24 B",
	After:   "b := pool.Get().(*[]byte)\ndefer pool.Put(b)",
	Safety:  Review,
	Needs:   "stacks through sync.Pool",
	WhenNot: "While the program warms up every Get calls New.",
}

var batchArena = Cure{
	Code:  "batch-arena",
	Title: "allocate objects of one lifetime together",
	Why: "Many small objects that are made together and die together can share a few large blocks: a slab of elements, or an arena that is reset as a whole. " +
		"malloc is then a bump of an offset, and the collector sees one object instead of many.",
	Before:  "for i := range rows {\n\tnodes = append(nodes, &Node{Row: i})\n}",
	After:   "slab := make([]Node, len(rows))\nfor i := range rows {\n\tslab[i] = Node{Row: i}\n\tnodes = append(nodes, &slab[i])\n}",
	Safety:  Review,
	Needs:   "objects per operation, the source's loops, the lifetime",
	WhenNot: "When one object outlives the others: it keeps the whole block alive.",
}

var shrinkLayout = Cure{
	Code:  "shrink-layout",
	Title: "order the fields so that the struct fits a smaller size class",
	Why: "The allocator rounds each object up to a size class, and the compiler pads fields to their alignment. Fields in order of size leave no holes, " +
		"and an object that drops into the next smaller class takes less of the heap.",
	Before:  "type entry struct {\n\tlive bool\n\tkey  string\n\tused bool\n\tnext *entry // 40 B, class 48\n}",
	After:   "type entry struct {\n\tkey  string\n\tnext *entry\n\tlive bool\n\tused bool // 32 B, class 32\n}",
	Safety:  Review,
	Needs:   "the type's layout, from the source",
	WhenNot: "When the order matters to others: cgo, unsafe, atomic 64-bit fields on 32-bit machines, encodings by position.",
}

var skipWork = Cure{
	Code:  SkipWork,
	Title: "do it less often, or not at all",
	Why: "The cheapest allocation is the one that never happens. Typical waste: a result that the taken branch " +
		"does not use, the same call in every iteration of a loop, " +
		"an argument formatted for a log line that is not written.",
	Before:  "enc := newEncoder(defaultLevel)\nif o.Level != 0 {\n\tenc = newEncoder(o.Level)\n}",
	After:   "level := o.Level\nif level == 0 {\n\tlevel = defaultLevel\n}\nenc := newEncoder(level)",
	Safety:  Review,
	Needs:   "cost of the line with all that it calls; the use of its result, from the source",
	WhenNot: "When the call is made for its effect.",
}

var goroutineStacks = Cure{
	Code:  "goroutine-stacks",
	Title: "start fewer goroutines, or keep their stacks",
	Why: "A goroutine's descriptor and its first stack come from the heap when none is free. A stack that " +
		"outgrows its size is copied to one twice as large. " +
		"The collector scans all stacks. Long-lived workers pay for their stacks once.",
	Before:  "for _, j := range jobs {\n\tgo handle(j)\n}",
	After:   "for range workers {\n\tgo func() {\n\t\tfor j := range queue {\n\t\t\thandle(j)\n\t\t}\n\t}()\n}",
	Safety:  Advice,
	Needs:   "the kind of allocation; for growth, the stacks bucket of the decomposition",
	WhenNot: "When goroutines wait most of their life: their number is then part of the design.",
}

var finalizerCost = Cure{
	Code:  "finalizer-cost",
	Title: "do without the finalizer or cleanup",
	Why: "An object with a finalizer survives the cycle that finds it dead, and the sweeper has to process a " +
		"record for each finalizer. " +
		"Releasing the object where its use ends costs nothing. A cleanup at least does not keep the object alive.",
	Before:  "runtime.SetFinalizer(f, (*File).close)",
	After:   "defer f.Close()",
	Safety:  Review,
	Needs:   "stacks through runtime.SetFinalizer or AddCleanup",
	WhenNot: "As a safety net on few, long-lived objects its cost is not worth the change.",
}

var gcHeadroom = Cure{
	Code:  "gc-headroom",
	Title: "give the collector more room",
	Why: "The cost of a cycle does not depend on how much was allocated since the last one, so fewer cycles cost " +
		"less. GOGC, a memory limit or a ballast trade memory for fewer cycles; " +
		"with a small live heap the trade is nearly free.",
	Before:  "GOGC=100",
	After:   "GOGC=400 GOMEMLIMIT=3GiB",
	Safety:  Review,
	Needs:   "gctrace or runtime/metrics",
	WhenNot: "Near the container's limit: when the live heap reaches a limit, the collector never stops running.",
}

var upgradeGo = Cure{
	Code:    UpgradeGo,
	Title:   "build with a newer Go",
	Why:     "Nearly every release makes the collector and the allocator cheaper, and only a rebuild is needed.",
	Before:  "go 1.24",
	After:   "go 1.26",
	Safety:  Review,
	Needs:   "the target's Go version and the collector's share of CPU; heaptrim prove measures it",
	WhenNot: "When a dependency does not build with it yet.",
}

var numaBind = Cure{
	Code:  "numa-bind",
	Title: "bind the process to one memory node",
	Why: "On machines with several memory nodes the kernel moves pages to the node that uses them, by causing " +
		"page faults on purpose. The collector touches the whole heap, " +
		"so its pages keep moving. A process bound to one node avoids this.",
	Before:  "./server",
	After:   "numactl --cpunodebind=0 --membind=0 ./server",
	Safety:  Advice,
	Needs:   "perf data with kernel stacks",
	WhenNot: "When the process needs more processors or memory than one node has.",
}

var hugePages = Cure{
	Code:  "huge-pages",
	Title: "settle huge pages",
	Why: "Transparent huge pages make page faults rarer and address translation cheaper. They also make untouched " +
		"memory resident, " +
		"and the kernel splits them again when the runtime returns memory.",
	Before:  "echo always > /sys/kernel/mm/transparent_hugepage/enabled",
	After:   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	Safety:  Advice,
	Needs:   "perf data with kernel stacks",
	WhenNot: "Without page faults in the profile there is nothing to settle.",
}

var leaveIt = Cure{
	Code:  LeaveIt,
	Title: "leave it as it is",
	Why: "Every change needs attention, and some cost more than they save. A pool for tiny objects spends more on " +
		"Get and Put than malloc does. " +
		"A pool that is rarely hit holds memory without benefit. An object with a long lifetime cannot be used again.",
	Before:  "return Point{X: x, Y: y} // boxed once per request: 16 B, 20 ns",
	After:   "// the same",
	Safety:  Safe,
	Needs:   "the site's cost and the prediction of every cure that fits it",
	WhenNot: "Where the cost is high and no cure of the catalogue fits, only a change of design helps, which no tool can name.",
}
