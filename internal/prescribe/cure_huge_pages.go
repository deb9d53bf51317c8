package prescribe

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
