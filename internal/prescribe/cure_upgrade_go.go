package prescribe

var upgradeGo = Cure{
	Code:    "upgrade-go",
	Title:   "build with a newer Go",
	Why:     "Nearly every release makes the collector and the allocator cheaper, and only a rebuild is needed.",
	Before:  "go 1.24",
	After:   "go 1.26",
	Safety:  Review,
	Needs:   "the target's Go version and the collector's share of CPU; heaptrim prove measures it",
	WhenNot: "When a dependency does not build with it yet.",
}
