package avoidconversion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
)

type name string

type level int

func (l level) String() string { return "level" }

func sprintf(s string, n int, u uint32, i int64, nm name, use func(string)) {
	use(fmt.Sprintf("%s", s))        // want `use s`
	use(fmt.Sprintf("%d", n))        // want `use strconv.Itoa`
	use(fmt.Sprintf("%v", u))        // want `use strconv.FormatUint`
	use(fmt.Sprintf("%d", i))        // want `use strconv.FormatInt`
	use(fmt.Sprintf("%s/%s", s, nm)) // want `concatenate them with \+`
	use(fmt.Sprintf("%s:%d", s, n))  // want `concatenate with \+ and format numbers with strconv`
}

func sprintfSilent(s string, n int, l level, f float64, err error, use func(string), args ...any) error {
	use(fmt.Sprintf("%5d", n))
	use(fmt.Sprintf("%x", n))
	use(fmt.Sprintf("a text so long that it is a template, in which %s stands somewhere", s))
	use(fmt.Sprintf("%v", l))
	use(fmt.Sprintf("%d", l)) // formats itself for %v only, but is left alone
	use(fmt.Sprintf("%v", f))
	use(fmt.Sprintf("%v", err))
	use(fmt.Sprintf(s, n))
	use(fmt.Sprintf("%d", args...))
	regexp.MustCompile(fmt.Sprintf("^%s$", s)) // what costs is the regular expression
	log.Print(fmt.Sprintf("%d", n))
	msg := fmt.Sprintf("%s is wrong", s)
	if n < 0 {
		use(fmt.Sprintf("%d", n))
		return errors.New("negative")
	}
	if err != nil {
		use(fmt.Sprintf("%d", n))
	}
	if n == 0 {
		panic(fmt.Sprintf("%d", n))
	}
	return fmt.Errorf("%s", msg)
}

func generic[T ~string](v T) string { return fmt.Sprintf("%s", v) }

func fprintf(b *bytes.Buffer, w io.Writer, s string, n int) {
	fmt.Fprintf(b, "%s=%s", s, s) // want `Fprintf boxes each string to write it: b.WriteString`
	fmt.Fprintf(b, "%s=%d", s, n) // want `append numbers with strconv.Append`
	fmt.Fprintf(w, "%s", s)       // want `io.WriteString`
	fmt.Fprint(w, s)              // want `Fprint boxes the string to write it: io.WriteString`
	fmt.Fprintf(w, "%s=%s", s, s) // several writes may be several system calls
	fmt.Fprintf(os.Stderr, "%s", s)
	fmt.Fprintf(b, "%5d", n)
	fmt.Fprint(w, "constant")
}

func (l level) Error() string { return fmt.Sprintf("%d", int(l)) }

type printer struct{}

func (printer) Sprintf(string, ...any) string { return "" }

func shadowedFmt(n int, use func(string)) {
	var fmt printer
	use(fmt.Sprintf("%d", n))
}
