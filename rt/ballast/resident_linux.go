package ballast

import (
	"bytes"
	"os"
	"strconv"
)

// anonymous returns the resident memory of the process that no file backs, in
// bytes, or 0 if it is not known.
func anonymous() int64 {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [128]byte
	n, _ := f.Read(buf[:])
	fields := bytes.Fields(buf[:n])
	if len(fields) < 3 {
		return 0
	}
	resident, err1 := strconv.ParseInt(string(fields[1]), 10, 64)
	files, err2 := strconv.ParseInt(string(fields[2]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return max(0, resident-files) * int64(os.Getpagesize())
}
