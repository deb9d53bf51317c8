// Words that a reader may not know, each explained in one sentence on hover
// and focus.
import { el } from "./dom.js";

const sentences = {
  "memory management": "All CPU time that exists because the program allocates: the allocator, clearing and copying into new memory, the collector, and goroutine stacks.",
  "application": "CPU time of the program's own code and its libraries, outside of memory management.",
  "collector": "The garbage collector: marking what is alive, mark assists, sweeping, write barriers, and the start and end of cycles.",
  "collecting": "The garbage collector: marking what is alive, assists by goroutines that allocate, sweeping, write barriers, the start and end of cycles, and the scheduler's work for them.",
  "allocating": "Finding and setting up memory for new objects.",
  "clearing and copying": "Clearing memory before the program gets it, and copying the old contents into it.",
  "stacks and pages": "Growing and freeing the stacks of goroutines, page faults and huge pages.",
  "application and scheduler": "The program's own code and its libraries, the runtime's scheduler, and samples that no table knows.",
  "malloc": "Finding and setting up memory for a new object.",
  "zeroing": "Clearing memory before the program gets it.",
  "growslice copying": "Copying the old elements when append needs a larger array.",
  "conversion copying": "Copying the bytes when a string becomes a []byte or strings are joined.",
  "heap profiler": "The sampling of allocations for heap profiles, which is on in every Go program unless it is turned off.",
  "mark assist": "Marking that goroutines must do themselves when they allocate faster than the background workers mark.",
  "mark, dedicated workers": "Background marking on a quarter of the processors while a cycle runs.",
  "mark, fractional workers": "Background marking for the part of that quarter that is less than a whole processor.",
  "mark, other": "Marking outside of the workers' own loops, such as scanning of stacks and globals.",
  "mark, idle workers": "Marking on processors that had nothing else to do: shown, never charged.",
  "cycle start and end": "Stopping and starting the program at both ends of a collection.",
  "sweep": "Making the memory of dead objects usable again.",
  "scavenge": "Giving memory back to the operating system.",
  "scheduler, for collections": "Waking threads and putting them to sleep because a collection starts, marks or ends. It is the scheduler's time, times the collections' share of all sleeps of threads.",
  "collector, in no sample": "Unsampled CPU time: the collector's part, by its samples. Threads that run only briefly between sleeps are rarely hit when samples are taken.",
  "write barrier": "Bookkeeping of pointer writes while marking runs.",
  "stack growth": "Copying a goroutine's stack to a larger one.",
  "goroutine stacks": "Allocating and freeing the stacks of goroutines.",
  "scheduler, timers, netpoll": "The runtime's scheduling of goroutines, timers and network events.",
  "application, in no sample": "Unsampled CPU time of a program that puts threads to sleep itself: mostly the program's own work between two sleeps.",
  "scheduler, in no sample": "Unsampled CPU time: the scheduler's part, by its samples.",
  "profiling itself": "The cost of the recording itself.",
  "not classified": "Samples whose functions no table of the runtime knows.",
  "churn": "The collector's cost through the amount allocated: it runs each time the free part of the heap fills up.",
  "retention": "The collector's cost through memory that stays alive; negative if live memory raises the heap goal and so saves collections.",
  "remainder": "Unattributed collector cost: of live memory that no heap profile shows. The cost of stacks, globals and each cycle itself is charged to what is allocated.",
  "overcharged": "The sites' shares of the collector add up to more than its measured cost by this amount: the sites share one headroom.",
  "saving": "What the program would save without these allocations, predicted from the pacer's formula and the direct cost; not measured.",
  "tied": "May be as large as the row above: their intervals (±) overlap.",
  "interval": "The figure lies in this range with 95 % confidence, by the sampling of the profiles.",
  "live heap": "Bytes that the last marking found reachable.",
  "heap goal": "The heap size at which the current cycle should end; GOGC and the memory limit set it.",
  "GOGC": "The room the heap may grow by before the next collection, in percent of what is live.",
  "memory limit": "GOMEMLIMIT: the size of all Go memory that the collector tries to stay under, whatever it costs.",
  "ballast": "Pointer-free memory kept alive only to raise the heap goal, so that collections get rarer.",
  "cycle": "One garbage collection, from the start of marking to its end.",
  "pause": "Time in which the whole program is stopped; two in each cycle.",
  "allocation rate": "Bytes that the program allocates in a second.",
  "held memory": "Memory that the Go runtime has mapped and not given back; the resident set is close to it.",
  "RSS": "Resident set: the part of the process's memory that is in physical memory.",
  "cost": "CPU time with the collector's share charged to the code that allocates, instead of to the collector's own goroutines.",
  "alloc_space": "Bytes allocated in the recording, dead or alive.",
  "alloc_objects": "Objects allocated in the recording, dead or alive.",
  "inuse_space": "Bytes alive in the heap, the mean over the snapshots of the recording.",
  "inuse_objects": "Objects alive in the heap, the mean over the snapshots of the recording.",
  "CPU only": "CPU samples where they were taken: the collector's work is under its own goroutines.",
  "self": "Cost of the function itself, without its callees.",
  "total": "Cost of the function and its callees.",
  "escape": "Why the compiler could not keep the value on the stack.",
  "safety": "safe: cannot change what the program does; review: look at the conditions; advice: a decision for a person.",
  "threshold": "Findings that save less than this share of CPU and of bytes are hidden.",
  "lifetime": "How long the objects live, by Little's law: bytes in use divided by the allocation rate.",
  "p99": "The duration that 99 of 100 requests stay under.",
};

// explain returns the sentence for a word, or "".
export function explain(word) {
  return Object.hasOwn(sentences, word) ? sentences[word] : "";
}

// term marks a word that is explained on hover and focus.
export function term(word, label) {
  const text = explain(word);
  if (!text) return document.createTextNode(label || word);
  return el("span", { class: "term", tabIndex: 0, data: { tip: text } }, label || word);
}
