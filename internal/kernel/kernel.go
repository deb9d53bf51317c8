// Package kernel classifies what Linux did for a program's memory: page faults, NUMA
// balancing, huge pages and returning memory. It recognises the class by the kernel
// functions on a stack, and attributes each stack to the Go function that entered the
// kernel. It only reads values, no files.
package kernel

import (
	"cmp"
	"sort"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Class is a kind of kernel work.
type Class int

// The classes, in the order in which they are matched: balancing and huge pages happen
// inside page faults, so they come first.
const (
	None      Class = iota
	NUMA            // pages moved, or marked to find their users, to balance NUMA nodes
	HugePages       // making, splitting and collecting transparent huge pages
	Return          // memory returned to the system: madvise, munmap
	FileFault       // page faults on mapped files and the program itself
	Fault           // page faults on memory of the program
	Other           // anything else in the kernel: system calls, interrupts
	classes
)

// String returns the name of the class as lists show it.
func (c Class) String() string {
	return [classes]string{"user space", "NUMA balancing", "huge pages", "memory given back", "page faults on files", "page faults", "other work of the kernel"}[c]
}

// namesOf returns the kernel functions that identify a class, for Linux 4.4 to 6.18 on
// amd64 and arm64. A name that ends in "*" is a prefix.
func namesOf(c Class) []string {
	switch c {
	case NUMA:
		return []string{"do_numa_page", "do_huge_pmd_numa_page", "migrate_misplaced_page", "migrate_misplaced_folio", "migrate_misplaced_transhuge_page",
			"task_numa_work", "task_numa_fault", "change_prot_numa", "numa_migrate_prep", "numa_rebuild_single_mapping"}
	case HugePages:
		return []string{"do_huge_pmd_anonymous_page", "__do_huge_pmd_anonymous_page", "do_huge_pmd_wp_page*", "clear_huge_page", "folio_zero_user", "create_huge_pmd",
			"khugepaged*", "collapse_huge_page", "hpage_collapse_scan*", "collapse_pte_mapped_thp", "madvise_collapse",
			"split_huge_page*", "__split_huge_p*", "split_folio*", "__folio_split", "deferred_split_*", "vma_thp_gfp_mask"}
	case Return:
		return []string{"__x64_sys_madvise", "__arm64_sys_madvise", "__se_sys_madvise", "sys_madvise", "do_madvise*", "madvise_vma*", "madvise_dontneed*", "madvise_free*",
			"__x64_sys_munmap", "__arm64_sys_munmap", "__vm_munmap", "do_vmi_munmap"}
	case FileFault:
		return []string{"filemap_fault", "filemap_map_pages", "do_read_fault", "do_shared_fault", "do_cow_fault", "do_fault", "__do_fault", "do_fault_around"}
	case Fault:
		return []string{"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "page_fault", "__do_page_fault", "do_page_fault", "async_page_fault",
			"handle_mm_fault", "__handle_mm_fault", "do_anonymous_page", "do_wp_page", "wp_page_copy",
			"do_mem_abort", "do_translation_fault", "el0_da", "el0_ia"}
	}
	return nil
}

// Table maps kernel functions to classes. Make it with NewTable. It is safe for
// concurrent use.
type Table struct {
	exact    map[string]Class
	prefixes []prefix
}

type prefix struct {
	name  string
	class Class
}

// NewTable returns the table of all names.
func NewTable() *Table {
	t := &Table{exact: map[string]Class{}}
	for c := NUMA; c < Other; c++ {
		for _, n := range namesOf(c) {
			if p, ok := strings.CutSuffix(n, "*"); ok {
				t.prefixes = append(t.prefixes, prefix{p, c})
			} else {
				t.exact[n] = c
			}
		}
	}
	return t
}

// Of returns the class that a kernel function identifies, or Other.
func (t *Table) Of(name string) Class {
	if c, ok := t.exact[name]; ok {
		return c
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(name, p.name) {
			return p.class
		}
	}
	return Other
}

// Work is what the kernel did, in CPU samples, and in page faults if those were
// recorded.
type Work struct {
	Samples int64
	Nanos   int64             // of all samples
	Share   stats.Interval    // of all samples: the kernel's part, in all classes
	Class   [classes]ClassSum // None is user space
	Faults  int64             // page faults that were recorded as events
	ByFault []Function        // Go functions with those faults, most first
}

// ClassSum is the work of one class.
type ClassSum struct {
	Samples int64
	Share   stats.Interval // of all samples
	By      []Function     // Go functions that entered the kernel there, most first
}

// Function is a Go function that entered the kernel.
type Function struct {
	Name  string // the innermost outside the runtime; of the runtime if there is no other
	Via   string // the Go or assembly function that entered the kernel
	Count int64  // samples, or page faults
}

// Columns are the column indices in a profile; -1 for a missing column.
type Columns struct{ Samples, CPU, Faults int }

// Analyze classifies the samples of a profile. Kernel frames are those with the file
// kernelFile.
func Analyze(p *evidence.Profile, kernelFile string, col Columns) (*Work, error) {
	a := &analysis{table: NewTable(), file: kernelFile, locs: make([]locClass, p.Locations)}
	for c := range a.by {
		a.by[c] = map[pair]int64{}
	}
	value := func(s evidence.Sample, i int) int64 {
		if i < 0 {
			return 0
		}
		return s.Values[i]
	}
	w := &Work{}
	faults := map[pair]int64{}
	err := p.Samples.Scan(func(s evidence.Sample) error {
		class, met := a.stack(s.Stack)
		if n := value(s, col.Samples); n > 0 {
			w.Samples += n
			w.Nanos += value(s, col.CPU)
			w.Class[class].Samples += n
			if class != None {
				a.by[class][met] += n
			}
		}
		if n := value(s, col.Faults); n > 0 {
			w.Faults += n
			faults[met] += n
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var inKernel int64
	for c := range w.Class {
		k := &w.Class[c]
		k.Share = stats.Share(float64(k.Samples), float64(w.Samples))
		k.By = sorted(a.by[c])
		if Class(c) != None {
			inKernel += k.Samples
		}
	}
	w.Share, w.ByFault = stats.Share(float64(inKernel), float64(w.Samples)), sorted(faults)
	return w, nil
}

// pair is where Go entered the kernel.
type pair struct{ name, via string }

type analysis struct {
	table *Table
	file  string
	locs  []locClass
	by    [classes]map[pair]int64
}

// locClass caches what is needed of a location.
type locClass struct {
	known  bool
	kernel bool
	owner  owner
	class  Class
}

func (a *analysis) loc(l *evidence.Location) *locClass {
	lc := &a.locs[l.Index]
	if lc.known || len(l.Frames) == 0 {
		return lc
	}
	f := l.Frames[0]
	*lc = locClass{known: true, kernel: f.File == a.file, owner: ownerOf(f.Function)}
	if lc.kernel {
		lc.class = a.table.Of(f.Function)
	}
	return lc
}

// stack returns the class of a stack and where Go entered the kernel. That is the
// innermost function of the program or another module, else of the standard library,
// else the outermost function.
func (a *analysis) stack(stack []*evidence.Location) (Class, pair) {
	class := None
	var via, std, name, outermost string
	for _, l := range stack {
		if len(l.Frames) == 0 {
			continue
		}
		lc, function := a.loc(l), l.Frames[0].Function
		if lc.kernel {
			if class == None || lc.class < class {
				class = lc.class
			}
			continue
		}
		if via == "" {
			via = function
		}
		switch {
		case lc.owner == others && name == "":
			name = function
		case lc.owner == library && std == "":
			std = function
		}
		if function != "runtime.goexit" && !strings.HasPrefix(function, "[unknown]") {
			outermost = function
		}
	}
	return class, pair{cmp.Or(name, std, outermost), via}
}

// owner says to whom a function belongs.
type owner int

const (
	system  owner = iota // the runtime, and assembly and C without a package
	library              // the rest of the standard library
	others
)

func ownerOf(function string) owner {
	for _, p := range []string{"runtime.", "internal/runtime/", "internal/bytealg.", "internal/abi.", "[unknown]"} {
		if strings.HasPrefix(function, p) {
			return system
		}
	}
	// A package's path ends at the first dot after the last slash. Dots and slashes in
	// type arguments and receivers do not count.
	path, _, _ := strings.Cut(function, "[")
	path, _, _ = strings.Cut(path, "(")
	slash := strings.LastIndexByte(path, '/')
	dot := strings.IndexByte(path[slash+1:], '.')
	if dot < 0 {
		return system
	}
	first, _, _ := strings.Cut(path[:slash+1+dot], "/")
	if first != "main" && !strings.Contains(first, ".") {
		return library
	}
	return others
}

func sorted(m map[pair]int64) []Function {
	out := make([]Function, 0, len(m))
	for k, n := range m {
		out = append(out, Function{k.name, k.via, n})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Count != b.Count {
			return a.Count > b.Count
		}
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Via < b.Via
	})
	return out
}
