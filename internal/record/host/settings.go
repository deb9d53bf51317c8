package host

import "strconv"

// StartGOGC returns the GOGC that a process starts with, given the variable's value.
// Like the runtime's readGOGC, it uses 100 for a malformed value and off for a
// negative number.
func StartGOGC(value string) string {
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case value == "off", err == nil && n < 0:
		return "off"
	case err != nil:
		return "100"
	}
	return strconv.FormatInt(n, 10)
}

// JoinDebug appends a setting to a GODEBUG value.
func JoinDebug(have, add string) string {
	if have == "" {
		return add
	}
	return have + "," + add
}
