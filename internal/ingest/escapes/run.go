package escapes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// RunOptions says what Run compiles.
type RunOptions struct {
	Dir      string   // in the module that built the target; it must not be empty
	Go       string   // the go command; empty means "go"
	Env      []string // environment of the go command; nil means this process's
	Packages []string // import paths of the hot packages: of the module, its dependencies or the standard library
	// BuildFlags are the flags that the target was built with, such as -tags,
	// -race, -overlay, -mod or -gcflags. Those that only change what the go
	// command prints or writes are left out.
	BuildFlags []string
	Scan       Options // Scan.Paths.Dir is set by Run where it is empty
}

// errNoPackages says that RunOptions names nothing to compile.
var errNoPackages = errors.New("no packages to ask the compiler about")

// Run has the go command compile the packages with -m=2, which writes nothing
// into the user's tree, and reads what the compiler says as it comes. What the
// build cache holds is replayed without compiling.
//
// The test variant of a package is not compiled: there is no word on lines of
// _test.go files. A package that does not exist or does not compile does not
// stop the others; the error then tells of it, next to what was found.
// Cancelling ctx stops the go command.
func Run(ctx context.Context, opts RunOptions) ([]evidence.Escape, Stats, error) {
	if len(opts.Packages) == 0 {
		return nil, Stats{}, errNoPackages
	}
	args, err := arguments(opts)
	if err != nil {
		return nil, Stats{}, err
	}
	if opts.Scan.Paths.Dir == "" {
		opts.Scan.Paths.Dir = opts.Dir
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := goCommand(ctx, opts, args)
	var listed bytes.Buffer
	cmd.Stdout = &listed
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, Stats{}, fmt.Errorf("read the go command's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, Stats{}, fmt.Errorf("start the go command in %s: %w", opts.Dir, err)
	}
	var found []evidence.Escape
	stats, scanErr := Scan("of the go command", stderr, opts.Scan, func(e evidence.Escape) error {
		found = append(found, e)
		return nil
	})
	if scanErr != nil {
		cancel()
	}
	waitErr := cmd.Wait()
	switch {
	case context.Cause(ctx) != nil && scanErr == nil:
		return found, stats, fmt.Errorf("compile with -m=2: %w", context.Cause(ctx))
	case scanErr != nil:
		return found, stats, scanErr
	case waitErr != nil:
		return found, stats, fmt.Errorf("compile with -m=2 in %s: %w%s", opts.Dir, waitErr, detail(stats, ""))
	case listed.Len() > 0:
		return found, stats, fmt.Errorf("compile with -m=2 in %s:%s", opts.Dir, detail(stats, listed.String()))
	}
	return found, stats, nil
}

func goCommand(ctx context.Context, opts RunOptions, args []string) *exec.Cmd {
	name := opts.Go
	if name == "" {
		name = "go"
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = opts.Dir, opts.Env
	// An interrupted go command removes its work directory; a killed one
	// leaves it.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// onError prints what is wrong with a package and nothing for a good one.
const onError = `{{with .Error}}{{.}}{{"\n"}}{{end}}`

// arguments returns the arguments of the go command. It is go list -export
// and not go build: that compiles the same, but links no program and goes on
// behind a package that is missing.
func arguments(opts RunOptions) ([]string, error) {
	flags, compiler, err := splitFlags(opts.BuildFlags)
	if err != nil {
		return nil, err
	}
	args := append([]string{"list", "-e", "-export", "-f=" + onError}, flags...)
	for _, c := range compiler {
		args = append(args, "-gcflags="+c)
	}
	for _, pkg := range opts.Packages {
		if pkg == "" || pkg[0] == '-' || strings.ContainsAny(pkg, " \t\n=") {
			return nil, fmt.Errorf("%q is not an import path", pkg)
		}
		// The last -gcflags that matches a package wins and replaces the
		// others: what the user set for it has to be said again.
		set := pkg + "="
		if user := lastFor(compiler, pkg); user != "" {
			set += user + " "
		}
		args = append(args, "-gcflags="+set+"-m=2")
	}
	return append(append(args, "--"), opts.Packages...), nil
}

// noFlags are build flags that Run must not hand on, and whether their value
// may be the next argument.
var noFlags = map[string]bool{
	"o": true, "v": false, "x": false, "n": false, "work": false, "a": false, "json": false, "i": false,
}

// valueFlags are the build flags that take a value as the next argument.
var valueFlags = []string{
	"asmflags", "buildmode", "buildvcs", "compiler", "covermode", "coverpkg", "gccgoflags", "gcflags",
	"installsuffix", "ldflags", "mod", "modfile", "o", "overlay", "p", "pgo", "pkgdir", "tags", "toolexec",
}

// splitFlags parts the user's build flags into the values of -gcflags and
// those of the others that are to be handed on.
func splitFlags(in []string) (flags, compiler []string, err error) {
	for i := 0; i < len(in); i++ {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(in[i], "-"), "-"), "=")
		if !strings.HasPrefix(in[i], "-") || name == "" {
			return nil, nil, fmt.Errorf("build flag %q does not begin with a dash", in[i])
		}
		if !hasValue && slices.Contains(valueFlags, name) {
			if i++; i == len(in) {
				return nil, nil, fmt.Errorf("build flag -%s has no value", name)
			}
			value, hasValue = in[i], true
		}
		_, drop := noFlags[name]
		switch {
		case name == "C":
			return nil, nil, errors.New("build flag -C: the directory is RunOptions.Dir")
		case drop:
		case name == "gcflags":
			compiler = append(compiler, value)
		case hasValue:
			flags = append(flags, "-"+name+"="+value)
		default:
			flags = append(flags, "-"+name)
		}
	}
	return flags, compiler, nil
}

// lastFor returns the compiler flags of the last -gcflags value that applies
// to the package. A value without a pattern is for the packages named on the
// command line, which the hot ones are here.
func lastFor(compiler []string, pkg string) string {
	for _, c := range slices.Backward(compiler) {
		if c == "" || c[0] == '-' || c[0] == ' ' {
			return strings.TrimSpace(c)
		}
		pattern, flags, ok := strings.Cut(c, "=")
		if ok && matchPackage(pattern, pkg) {
			return strings.TrimSpace(flags)
		}
	}
	return ""
}

// matchPackage reports whether an import path fits a pattern of the go
// command. A pattern relative to a directory is taken to fit.
func matchPackage(pattern, pkg string) bool {
	if pattern == "all" || strings.HasPrefix(pattern, ".") {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok && pkg == prefix {
		return true
	}
	parts := strings.Split(pattern, "...")
	rest, ok := strings.CutPrefix(pkg, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, path.Clean(parts[len(parts)-1])) || parts[len(parts)-1] == ""
}

// detail is what the go command said beside the compiler's decisions.
func detail(stats Stats, listed string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(listed), "\n") {
		if line != "" {
			b.WriteString("\n\t" + line)
		}
	}
	for _, l := range stats.UnknownLines {
		b.WriteString("\n\t" + l.Text)
	}
	return b.String()
}
