package budget

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var home = Env{Go: "1.26", OS: "linux", Arch: "amd64"}

const sample = heading + `
# keys are long here
heaptrim.budget/1
env go1.26 linux/amd64
cpu 1,4
rule new=fail deleted=warn

. BenchmarkRoot 0.25±0.01 allocs/op 33.333±2 B/op N=1000 # the map grows
./a BenchmarkA/x 3 allocs/op 128 B/op N=100
./a BenchmarkA/x cpu=4 3.5 allocs/op 130 B/op N=100
./a BenchmarkA/x go=1.27 tags=none 2 allocs/op 96 B/op N=100
./a BenchmarkA/x site=a.go:F 1 allocs/op 64 B/op N=100
./a type:T 48 bytes class 48
`

func mustParse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseAndWrite(t *testing.T) {
	f := mustParse(t, sample)
	want := strings.Replace(sample, "\n# keys", "\n# keys", 1)
	got := string(f.Bytes())
	if len(f.Lines) != 6 || f.Home != home || !reflect.DeepEqual(f.CPU, []int{1, 4}) || f.Rules.Of(New) != Fail || f.Rules.Of(Skipped) != Warn {
		t.Fatalf("%+v", f)
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			t.Errorf("lacks %q:\n%s", line, got)
		}
	}
	if again := mustParse(t, got); !reflect.DeepEqual(again, f) {
		t.Errorf("read again: %+v, want %+v", again, f)
	}
}

func TestParseErrors(t *testing.T) {
	const head = "heaptrim.budget/1\nenv go1.26 linux/amd64\n"
	f := func(text, want string) {
		t.Helper()
		if _, err := Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want an error with %q", text, err, want)
		}
	}
	f("", "f:1: no budget file")
	f("./a BenchmarkA 1 allocs/op 1 B/op N=1", "f:1: want heaptrim.budget/1")
	for _, mark := range []string{"<<<<<<< HEAD", "||||||| 1a2b", "=======", ">>>>>>> topic"} {
		f(head+mark+"\n", "f:3: a merge conflict")
	}
	f(head+head, "f:3: heaptrim.budget/1 again, as in line 1")
	f(head+"env go1.27 linux/amd64", "f:3: env again, as in line 2")
	f("heaptrim.budget/2\n", "f:1: heaptrim.budget/2 is of another release of heaptrim")
	f("# mine\nheaptrim.budget/1\ncpu 1\n", "f:2: no line says where")
	f(head+"cpu 2,1,2", "f:3: cpu 2,1,2: 2 is there twice")
	f(head+"..a BenchmarkA 1 allocs/op 1 B/op N=1", "f:3: want ./PACKAGE")
	f(head+"./a Run 1 allocs/op 1 B/op N=1", "f:3: Run: want the name of a benchmark")
	f(head+"./a BenchmarkA 1 allocs/op 1 B/op N=\x1b[2J"+strings.Repeat("9", 1e6), "f:3: N=\uFFFD[2J9")
	f(head+strings.Repeat("# x\n", mostBytes/4), "no budget file: want at most")
	f(head+"./a BenchmarkA 1 allocs/op 1 B/op", "f:3: want AMOUNT")
	f(head+"./a BenchmarkA 1 allocs/op -1 B/op N=1", "-1: want an amount")
	f(head+"./a BenchmarkA NaN allocs/op 1 B/op N=1", "want an amount")
	f(head+"./a BenchmarkA 1±x allocs/op 1 B/op N=1", "want an amount")
	f(head+"./a BenchmarkA 1 allocs/op 1 B/op N=0", "N=0: want")
	f(head+"./a BenchmarkA color=red 1 allocs/op 1 B/op N=1", "color=red: want one of")
	f(head+"./a BenchmarkA cpu=0 1 allocs/op 1 B/op N=1", "cpu=0")
	f(head+"./a BenchmarkB 1 allocs/op 1 B/op N=1\n./a BenchmarkB 2 allocs/op 1 B/op N=1", "f:4: the same benchmark as in line 3")
	f(head+"rule new=perhaps", "want new=fail|warn|adopt")
	f(head+"rule failing=adopt", "want failing=fail|warn")
	f(head+"rule old=fail", "want one of new")
	f(head+"cpu 0", "cpu 0")
	f("heaptrim.budget/1\nenv 1.26", "want env goRELEASE")
	f(head+"./a type:T 48 bytes", "want SIZE bytes class")
}

// TestParseForeign: what editors of other systems write reads as the same.
func TestParseForeign(t *testing.T) {
	want := mustParse(t, sample)
	for name, text := range map[string]string{
		"CRLF":           strings.ReplaceAll(sample, "\n", "\r\n"),
		"byte order":     "\ufeff" + sample,
		"no end of line": strings.TrimSuffix(sample, "\n"),
	} {
		if got := mustParse(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for cut := range len(sample) { // half a file is an error or a shorter file
		if f, err := Parse("f", []byte(sample[:cut])); err == nil && len(f.Lines) > len(want.Lines) {
			t.Errorf("cut at %d: %d lines", cut, len(f.Lines))
		}
	}
}

// TestMerge: git joins branches that changed different benchmarks, next to each other or not.
func TestMerge(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	subject := func(name string) Subject { return Subject{Package: "./a", Name: "Benchmark" + name} }
	write := func(file string, change func(*File)) string {
		f := &File{Home: home, CPU: []int{1, 4}, Rules: Rules{}}
		for _, name := range []string{"A", "B", "C", "D"} {
			f.Set(subject(name), home, 1, fig(1, 16))
			f.Set(subject(name), home, 4, fig(2, 32))
		}
		change(f)
		at := filepath.Join(dir, file)
		if err := os.WriteFile(at, f.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	base := write("base", func(*File) {})
	ours := write("ours", func(f *File) { f.Set(subject("B"), home, 1, fig(5, 80)); f.Set(subject("B"), home, 4, fig(6, 80)) })
	theirs := write("theirs", func(f *File) { f.Set(subject("C"), home, 4, fig(7, 96)) })
	out, err := exec.Command(git, "merge-file", "-p", ours, base, theirs).Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	f := mustParse(t, string(out))
	for name, want := range map[string]float64{"A": 2, "B": 6, "C": 7, "D": 2} {
		if l, ok := f.Find(subject(name), home, 4); !ok || l.Figure.Allocs != want {
			t.Errorf("%s: %v, want %v", name, l, want)
		}
	}
}

func TestFind(t *testing.T) {
	file := mustParse(t, sample)
	f := func(e Env, cpu int, want float64) {
		t.Helper()
		l, ok := file.Find(Subject{Package: "./a", Name: "BenchmarkA/x"}, e, cpu)
		if !ok || l.Figure.Allocs != want {
			t.Errorf("%v at %d: %v, %v, want %v", e, cpu, l, ok, want)
		}
	}
	f(home, 1, 3)
	f(home, 4, 3.5)
	newer := home
	newer.Go = "1.27"
	f(newer, 1, 2)
	f(newer, 4, 2)
	newer.Tags = "x"
	f(newer, 1, 3)
}

func fig(allocs, bytes float64) Figure {
	return Figure{Amount: Amount{allocs, bytes}, Ops: 100}
}

// TestSet: figures that are the same elsewhere get no line of their own, and lose it.
func TestSet(t *testing.T) {
	s := Subject{Package: "./a", Name: "BenchmarkA"}
	file := &File{Home: home, CPU: []int{1, 4}, Rules: Rules{}}
	f := func(e Env, cpu int, fig Figure, want ...string) {
		t.Helper()
		file.Set(s, e, cpu, fig)
		var got []string
		for _, l := range file.Lines {
			got = append(got, l.String())
		}
		for i := range want {
			want[i] = "./a BenchmarkA " + want[i] + " N=100"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	other := Env{Go: "1.27", OS: "darwin", Arch: "arm64"}
	f(home, 1, fig(3, 64), "3 allocs/op 64 B/op")
	f(home, 4, fig(3, 64), "3 allocs/op 64 B/op")
	f(other, 1, fig(3, 64), "3 allocs/op 64 B/op")
	f(home, 4, fig(4, 80), "3 allocs/op 64 B/op", "cpu=4 4 allocs/op 80 B/op")
	f(other, 1, fig(2, 32), "3 allocs/op 64 B/op", "cpu=4 4 allocs/op 80 B/op", "go=1.27 os=darwin arch=arm64 2 allocs/op 32 B/op")
	f(home, 1, fig(2, 32), "2 allocs/op 32 B/op", "cpu=4 4 allocs/op 80 B/op", "go=1.27 os=darwin arch=arm64 2 allocs/op 32 B/op")
	f(other, 1, fig(2, 32), "2 allocs/op 32 B/op", "cpu=4 4 allocs/op 80 B/op")
	f(home, 4, fig(2, 32), "2 allocs/op 32 B/op")

	// A figure that may be larger than the line without keys allows has a line, however near its median is.
	varying := fig(2, 32)
	varying.Tolerance = Amount{1, 16}
	f(home, 4, varying, "2 allocs/op 32 B/op", "cpu=4 2±1 allocs/op 32±16 B/op")
	f(home, 1, varying, "2±1 allocs/op 32±16 B/op", "cpu=4 2±1 allocs/op 32±16 B/op")
	f(home, 4, fig(2.5, 40), "2±1 allocs/op 32±16 B/op", "cpu=4 2.5±1 allocs/op 40±16 B/op")
}

// TestSetKeeps: what a person wrote stays: the reason, and a tolerance that is larger.
func TestSetKeeps(t *testing.T) {
	s := Subject{Package: "./a", Name: "BenchmarkA"}
	file := &File{Home: home, CPU: []int{1}, Lines: []Line{{Subject: s, Figure: Figure{Amount{3, 64}, Amount{1, 0}, 10}, Reason: "a cache"}}}
	file.Set(s, home, 1, fig(5, 80))
	if got := file.Lines[0].String(); got != "./a BenchmarkA 5±1 allocs/op 80 B/op N=100 # a cache" {
		t.Error(got)
	}
	to := Subject{Package: "./a", Name: "BenchmarkB"}
	file.Rename(s, to)
	if l, ok := file.Find(to, home, 1); !ok || l.Reason != "a cache" {
		t.Errorf("renamed: %v", file.Lines)
	}
	if reason := file.Remove(to); reason != "a cache" || len(file.Lines) != 0 {
		t.Errorf("removed: %q, %v", reason, file.Lines)
	}
}

func TestCompare(t *testing.T) {
	b := Figure{Amount: Amount{3, 640}, Tolerance: Amount{0.5, 0}, Ops: 1000}
	f := func(a Amount, allocs, bytes, below bool) {
		t.Helper()
		if x, y := b.Over(a); x != allocs || y != bytes || b.Below(a) != below {
			t.Errorf("%v of %v: over %v, %v, below %v, want %v, %v, %v", a, b, x, y, b.Below(a), allocs, bytes, below)
		}
	}
	f(Amount{3, 640}, false, false, false)
	f(Amount{3.5, 640}, false, false, false)
	f(Amount{3.508, 640}, false, false, false)
	f(Amount{3.509, 640}, true, false, false)
	f(Amount{3, 641}, false, true, false)
	f(Amount{3, 640.5}, false, false, false)
	f(Amount{3.001, 641}, false, false, false) // one object of a kilobyte
	f(Amount{3.001, 740}, false, true, false)  // one of a hundred
	f(Amount{2, 640}, false, false, true)
	f(Amount{2, 650}, false, true, false)
	f(Amount{3, 630}, false, false, true)
	b = Figure{Amount: Amount{3, 640}, Ops: 2}
	f(Amount{3.5, 660}, false, false, false)
	f(Amount{4, 648}, true, true, false)
	f(Amount{3, 648}, false, true, false)
	f(Amount{2, 640}, false, false, true)
	b = Figure{Amount: Amount{23.1, 11536.8}, Ops: 10}
	f(Amount{23.1, 11549.6}, false, false, false) // a block of a run is 128 bytes larger
	f(Amount{23.1, 11552.8}, false, true, false)  // one of each operation, 16 bytes
	f(Amount{23.1, 11600.2}, false, true, false)  // 634 bytes of a run
}

func TestRelease(t *testing.T) {
	f := func(version, want string) {
		t.Helper()
		if got := Release(version); got != want {
			t.Errorf("Release(%q) = %q, want %q", version, got, want)
		}
	}
	f("go1.26.8", "1.26")
	f("go1.27rc1", "1.27")
	f("go1.26.8 X:nogreenteagc", "1.26")
	f("devel", "devel")
}

// FuzzParse: what is read is written so that it reads as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("heaptrim.budget/1\nenv go1 a/b tags=x\n. BenchmarkB 1e3 allocs/op 0.1±1 B/op N=1 # #"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("f", text)
		if err != nil {
			return
		}
		again, err := Parse("f", file.Bytes())
		if err != nil {
			t.Fatalf("%v:\n%s", err, file.Bytes())
		}
		if got, want := string(again.Bytes()), string(file.Bytes()); got != want {
			t.Errorf("%s\nwant:\n%s", got, want)
		}
	})
}
