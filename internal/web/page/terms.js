// Words that a reader may not know, each explained in one sentence on hover
// and focus.
import { el } from "./dom.js";

const sentences = {
  "memory management": "All CPU time that exists because the program allocates: the allocator, clearing and copying into new memory, the collector, and goroutine stacks.",
  "application": "CPU time of the program's own code and its libraries, outside of memory management.",
  "collector": "The garbage collector: marking what is alive, mark assists, sweeping, write barriers, and the start and end of cycles.",
  "malloc": "Finding and setting up memory for a new object.",
  "zeroing": "Clearing memory before the program gets it.",
  "growslice copying": "Copying the old elements when append needs a larger array.",
  "conversion copying": "Copying the bytes when a string becomes a []byte or strings are joined.",
  "heap profiler": "The sampling of allocations for heap profiles, which is on in every Go program unless it is turned off.",
  "mark assist": "Marking that goroutines must do themselves when they allocate faster than the background workers mark.",
  "mark, dedicated workers": "Background marking on a quarter of the processors while a cycle runs.",
  "mark, fractional workers": "Background marking that makes up what whole processors cannot give of the quarter.",
  "mark, other": "Marking outside of the workers' own loops, such as scanning of stacks and globals.",
  "mark, idle workers": "Marking on processors that had nothing else to do: shown, never charged.",
  "cycle start and end": "Stopping and starting the program at both ends of a collection.",
  "sweep": "Making the memory of dead objects usable again.",
  "scavenge": "Giving memory back to the operating system.",
  "scheduler, for collections": "Waking threads and putting them to sleep because a collection starts, marks or ends: the scheduler's time by the share that collections have in the sleeps of threads.",
  "collector, in no sample": "Processor time that the process had and that is in no sample: the collector's part by the samples that it has. Threads that run for moments only are missed by the ticks at which samples are taken.",
  "write barrier": "Bookkeeping of pointer writes while marking runs.",
  "stack growth": "Copying a goroutine's stack to a larger one.",
  "goroutine stacks": "Allocating and freeing the stacks of goroutines.",
  "scheduler, timers, netpoll": "The runtime's scheduling of goroutines, timers and network events.",
  "application, in no sample": "Processor time that the process had and that is in no sample, of a program that puts threads to sleep itself: most of it is the program's own work between two sleeps.",
  "scheduler, in no sample": "Processor time that the process had and that is in no sample: the scheduler's part by the samples that it has.",
  "profiling itself": "What the recording costs.",
  "not classified": "Samples whose functions no table of the runtime knows.",
  "churn": "What the collector costs because of how much is allocated: it runs once each time the free part of the heap fills up.",
  "retention": "What the collector costs because of what stays alive; negative where live memory raises the heap goal and so spares collections.",
  "remainder": "Collector cost that no allocation site bears: the fixed cost of a cycle, stacks, globals, and shared headroom.",
  "overcharged": "What all allocation sites together bear of the collector beyond what it was measured to take: they share one headroom.",
  "saving": "What the program would save without these allocations, predicted from the pacer's formula and the direct cost; not measured.",
  "lifted": "Stands here for all lines of its function, of which it is the first: by itself it would stand lower.",
  "tied": "Cannot be told from the row above: their intervals overlap.",
  "interval": "The figure lies in this range with 95 % confidence, by the sampling of the profiles.",
  "live heap": "Bytes that the last marking found reachable.",
  "heap goal": "The heap size at which the current cycle should end; GOGC and the memory limit set it.",
  "GOGC": "The room the heap may grow by before the next collection, in percent of what is live.",
  "memory limit": "GOMEMLIMIT: the size of all Go memory that the collector tries to stay under, whatever it costs.",
  "ballast": "Pointer-free memory kept alive only to raise the heap goal, so that collections get rarer.",
  "cycle": "One garbage collection, from the start of marking to its end.",
  "pause": "Time in which the whole program stands still; two in each cycle.",
  "allocation rate": "Bytes that the program allocates in a second.",
  "held memory": "Memory that the Go runtime has mapped and not given back; the resident set is close to it.",
  "RSS": "Resident set: memory of the process that stands in physical memory.",
  "cost": "CPU time with the collector's share charged to the code that allocates, instead of to the collector's own goroutines.",
  "alloc_space": "Bytes allocated in the recording, dead or alive.",
  "alloc_objects": "Objects allocated in the recording, dead or alive.",
  "inuse_space": "Bytes alive in the heap, the mean over the snapshots of the recording.",
  "inuse_objects": "Objects alive in the heap, the mean over the snapshots of the recording.",
  "CPU only": "CPU samples where they were taken: the collector's work stands under its own goroutines.",
  "self": "What the function costs itself, without the functions that it calls.",
  "total": "What the function costs together with all that it calls.",
  "escape": "Why the compiler could not keep the value on the stack.",
  "safety": "safe: cannot change what the program does; review: look at the conditions; advice: a decision for a person.",
  "threshold": "Findings that save less than this share of CPU and of bytes are left out.",
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
