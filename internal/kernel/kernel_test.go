package kernel_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

func analyze(t *testing.T, text string) *kernel.Work {
	t.Helper()
	p, _, err := perf.Bytes("in", text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := kernel.Analyze(p, perf.KernelFile, kernel.Columns{Samples: p.Column(perf.ColumnSamples), CPU: p.Column(perf.ColumnCPU), Faults: p.Column(perf.ColumnFaults)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sample returns one stack in the format of perf script, leaf first. Kernel functions
// begin with "k:".
func sample(event string, frames ...string) string {
	s := "kv 7/8 1.000002: 1000 " + event + ":\n"
	for _, f := range frames {
		if len(f) > 2 && f[:2] == "k:" {
			s += "\tffffffff81000c82 " + f[2:] + " ([kernel.kallsyms])\n"
		} else {
			s += "\t           9ebf9 " + f + " (/srv/kv)\n"
		}
	}
	return s + "\n"
}

func TestClasses(t *testing.T) {
	f := func(want kernel.Class, name, via string, frames ...string) {
		t.Helper()
		w := analyze(t, sample("cpu-clock", frames...))
		if w.Class[want].Samples != 1 || w.Samples != 1 || w.Nanos != 1000 {
			t.Errorf("%q: %+v, want %v", frames, w.Class, want)
			return
		}
		if want == kernel.None {
			return
		}
		if got := w.Class[want].By[0]; got != (kernel.Function{Name: name, Via: via, Count: 1}) {
			t.Errorf("%q: %+v, want %s in %s", frames, got, name, via)
		}
	}
	f(kernel.None, "", "", "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit.abi0")
	f(kernel.Fault, "main.fill", "runtime.memclrNoHeapPointers",
		"k:clear_page_rep", "k:do_anonymous_page", "k:handle_mm_fault", "k:exc_page_fault", "k:asm_exc_page_fault", "runtime.memclrNoHeapPointers", "runtime.mallocgc", "main.fill", "main.main", "runtime.main", "runtime.goexit")
	f(kernel.Fault, "main.fill", "main.fill", "k:asm_exc_page_fault", "main.fill", "runtime.main")
	f(kernel.FileFault, "main.fill", "main.fill", "k:filemap_map_pages", "k:do_fault", "k:handle_mm_fault", "k:asm_exc_page_fault", "main.fill", "runtime.main")
	f(kernel.HugePages, "main.fill", "main.fill", "k:clear_huge_page", "k:__do_huge_pmd_anonymous_page", "k:handle_mm_fault", "k:asm_exc_page_fault", "main.fill", "runtime.main")
	f(kernel.NUMA, "runtime.gcBgMarkWorker", "runtime.scanobject",
		"k:copy_page", "k:migrate_pages", "k:migrate_misplaced_page", "k:do_numa_page", "k:handle_mm_fault", "k:page_fault", "runtime.scanobject", "runtime.gcBgMarkWorker", "runtime.goexit.abi0")
	f(kernel.NUMA, "main.f", "main.f", "k:change_protection", "k:change_prot_numa", "k:task_numa_work", "k:task_work_run", "k:irqentry_exit_to_user_mode", "main.f", "runtime.main")
	f(kernel.Return, "runtime.bgscavenge", "runtime.madvise",
		"k:zap_pte_range", "k:madvise_dontneed_free.isra.0", "k:__x64_sys_madvise", "k:do_syscall_64", "runtime.madvise", "runtime.sysUnusedOS", "runtime.(*pageAlloc).scavengeOne", "runtime.bgscavenge", "runtime.goexit.abi0")
	f(kernel.Other, "main.serve", "internal/runtime/syscall.Syscall6", "k:tcp_sendmsg", "k:do_syscall_64", "internal/runtime/syscall.Syscall6", "syscall.write", "main.serve", "runtime.main")
}

// TestSum checks that the classes add up to all samples.
func TestSum(t *testing.T) {
	w := analyze(t, sample("cpu-clock", "main.f", "runtime.main")+sample("cpu-clock", "k:asm_exc_page_fault", "main.f", "runtime.main")+
		sample("cpu-clock", "k:tcp_sendmsg", "main.f", "runtime.main")+sample("minor-faults", "main.f", "runtime.main"))
	sum := int64(0)
	for _, c := range w.Class {
		sum += c.Samples
	}
	if sum != 3 || w.Samples != 3 || w.Faults != 1000 || w.ByFault[0].Name != "main.f" || w.Share.Value < 0.66 || w.Share.Value > 0.67 {
		t.Errorf("%d in classes: %+v", sum, w)
	}
}

// TestReal uses perf's recording of a program that touches fresh memory.
func TestReal(t *testing.T) {
	p, _, err := perf.Open("../ingest/perf/testdata/cpu-clock.txt")
	if err != nil {
		t.Fatal(err)
	}
	w, err := kernel.Analyze(p, perf.KernelFile, kernel.Columns{Samples: 0, CPU: 1, Faults: 2})
	if err != nil {
		t.Fatal(err)
	}
	if f := w.Class[kernel.Fault]; f.Samples < 10 || f.By[0].Name != "main.fill" || w.Class[kernel.NUMA].Samples != 0 {
		t.Errorf("page faults %+v", f)
	}
}

// TestPublishedStacks uses the call paths into NUMA balancing from published kernel
// reports of machines with several nodes: the functions as printed there, innermost
// first, above a Go function. They replace a recording of our own, which would need
// such a machine; no perf script output with them was found in public.
func TestPublishedStacks(t *testing.T) {
	f := func(source string, frames ...string) {
		t.Helper()
		stack := append([]string{}, frames...)
		for i := range stack {
			stack[i] = "k:" + stack[i]
		}
		w := analyze(t, sample("cpu-clock", append(stack, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit.abi0")...))
		if w.Class[kernel.NUMA].Samples != 1 || w.Class[kernel.NUMA].By[0].Via != "runtime.scanobject" {
			t.Errorf("%s: %+v, want NUMA balancing", source, w.Class)
		}
	}
	f("LKML 2012, KOSAKI, dirty pages of aio, 3.x",
		"migrate_page_copy", "aio_migratepage", "move_to_new_page", "migrate_pages", "migrate_misplaced_page", "do_numa_page", "handle_pte_fault",
		"handle_mm_fault", "__do_page_fault", "do_page_fault", "page_fault")
	f("Ubuntu 3.13.0-65, KASan in task_numa_find_cpu",
		"task_numa_find_cpu", "task_numa_fault", "do_numa_page", "handle_mm_fault", "__do_page_fault", "do_page_fault", "page_fault")
	f("LKML 2014, Trinity on linux-next, 3.15",
		"remove_migration_pte", "rmap_walk", "remove_migration_ptes", "migrate_pages", "migrate_misplaced_page", "__handle_mm_fault", "handle_mm_fault",
		"__get_user_pages", "__mlock_vma_pages_range", "__mm_populate", "SyS_mlockall", "tracesys")
	f("LKML 2020, UBSAN on arm64, 4.19",
		"task_numa_find_cpu", "task_numa_migrate", "task_numa_fault", "do_numa_page", "__handle_mm_fault", "handle_mm_fault", "do_page_fault",
		"do_translation_fault", "do_mem_abort", "el0_da")
	f("github.com/alibaba/diagnose-tools/pull/161, 2022, 4.19",
		"should_numa_migrate_memory", "mpol_misplaced", "do_numa_page", "handle_mm_fault", "__do_page_fault", "do_page_fault", "page_fault")
	f("gdb on 6.1, huge pages",
		"move_to_new_folio", "__unmap_and_move", "unmap_and_move", "migrate_pages", "migrate_misplaced_page", "do_huge_pmd_numa_page", "__handle_mm_fault",
		"handle_mm_fault", "do_user_addr_fault", "handle_page_fault", "exc_page_fault", "asm_exc_page_fault")
	f("LKML 2023, folio_undo_large_rmappable, 6.7-rc4",
		"destroy_large_folio", "migrate_folio_move", "migrate_pages_batch", "migrate_pages", "migrate_misplaced_folio", "do_numa_page", "__handle_mm_fault",
		"handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")
	f("LKML 2024, BUG at mm/migrate.c, 6.9-rc1",
		"migrate_misplaced_folio", "do_numa_page", "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")
}
