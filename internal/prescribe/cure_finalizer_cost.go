package prescribe

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
	match: func(c *candidate, p *allocated) (proposal, bool) {
		pr, ok := c.fromLibrary(p, "finalizer-cost")
		pr.Text = "release the object where its use ends, and set no finalizer on the hot path"
		return pr, ok
	},
}
