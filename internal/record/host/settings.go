package host

import "strconv"

// StartGOGC is the GOGC that a process starts with whose variable has this
// value: readGOGC of the runtime takes 100 for what it cannot read, and a
// negative number for off.
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

// JoinDebug appends to a GODEBUG value.
func JoinDebug(have, add string) string {
	if have == "" {
		return add
	}
	return have + "," + add
}
