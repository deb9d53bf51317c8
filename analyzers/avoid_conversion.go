package analyzers

// AvoidConversion reports text copied or formatted through a detour.
var AvoidConversion = avoidConversionRule.analyzer("avoidconversion", avoidConversion)

var avoidConversionRule = Rule{
	Code:  "avoid-conversion",
	Title: "keep text in the form that the next step takes",
	Why: "Each change between string and []byte copies, fmt boxes its arguments and makes a string, and Split makes a " +
		"slice to look at one element.",
	Before: "w.Write([]byte(\"id=\" + strconv.Itoa(id)))\nhost := strings.Split(addr, \":\")[0]",
	After: "buf = strconv.AppendInt(append(buf[:0], \"id=\"...), int64(id), 10)\nw.Write(buf)\n" +
		"host, _, _ := strings.Cut(addr, \":\")",
	Silent: "the compiler needs no copy there (comparison, map look-up, ranging over []byte(s), arguments that are only " +
		"read), the format has flags or values that format themselves, the text is an error's or the result of a branch that " +
		"failed, or the replacement needs a newer Go than the file's.",
}

func avoidConversion(s *source) {
	s.checkWrites()
	s.checkSearches()
	s.checkReaders()
	s.checkRunes()
	s.checkRoundTrips()
	s.checkSprintf()
	s.checkFprintf()
	s.checkAppends()
	s.checkSplits()
	s.checkSplitLoops()
	s.checkFoldedCompare()
}
