package sides

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseSide(t *testing.T) {
	f := func(text string, want Side) {
		t.Helper()
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseSide(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again.code() != got.code() {
			t.Errorf("ParseSide(%q) of the side's own text: %+v, %v", got, again, err)
		}
	}
	f("work", Side{Source: Work})
	f("rev:HEAD~1", Side{Source: Revision, At: "HEAD~1"})
	f("rev:HEAD@{1},env:GOGC=400", Side{Source: Revision, At: "HEAD@{1}", Env: []string{"GOGC=400"}})
	f("dir:../a,b", Side{Source: Dir, At: "../a,b"})
	f(`dir:C:\x`, Side{Source: Dir, At: `C:\x`})
	f("env:GODEBUG=a=1,b=2,env:GOGC=off", Side{Env: []string{"GODEBUG=a=1,b=2", "GOGC=off"}})
	f("experiment:nogreenteagc,arenas,toolchain:go1.27.4",
		Side{Experiment: "nogreenteagc,arenas", Toolchain: "go1.27.4"})
	f("overlay:x.json,tags:a,b", Side{Overlay: "x.json", Tags: "a,b"})
	f("version:v1.2.3,env:GOGC=50", Side{Version: "v1.2.3", Env: []string{"GOGC=50"}})
}

func TestParseSideErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if s, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSide(%q) = %+v, %v, want an error with %q", text, s, err, want)
		}
	}
	f("", "none of work")
	f("HEAD", `"HEAD" is none of work, rev:REVISION`)
	f("rev", "want rev:REVISION")
	f("rev:", "want rev:REVISION")
	f("work:x", "want work")
	f("env:GOGC", "want NAME=VALUE")
	f("env:=1", "want NAME=VALUE")
	f("work,rev:x", "two sources")
	f("toolchain:a,toolchain:b", "contradict")
}

func TestSides(t *testing.T) {
	f := func(a, b, wantA, wantB string) {
		t.Helper()
		var given [2]*Side
		for i, text := range []string{a, b} {
			if text == "" {
				continue
			}
			s, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			given[i] = &s
		}
		var others []Side
		if given[1] != nil {
			others = append(others, *given[1])
		}
		sides := Complete(given[0], others...)
		if len(sides) != 2 {
			t.Fatalf("Sides(%q, %q) = %v", a, b, sides)
		}
		x, y := sides[0], sides[1]
		if x.String() != wantA || y.String() != wantB {
			t.Errorf("Sides(%q, %q) = %s, %s, want %s, %s", a, b, x, y, wantA, wantB)
		}
	}
	f("", "", "rev:HEAD", "work")
	f("rev:v1", "", "rev:v1", "work")
	f("", "rev:topic", "rev:HEAD", "rev:topic")
	f("", "dir:../b", "work", "dir:../b")
	f("dir:../a", "", "dir:../a", "work")
	f("", "env:GOGC=400", "work", "work,env:GOGC=400")
	f("env:GOGC=400", "", "work,env:GOGC=400", "work")
	f("env:GOGC=50", "env:GOGC=400", "work,env:GOGC=50", "work,env:GOGC=400")
	f("rev:v1", "env:GOGC=400", "rev:v1", "work,env:GOGC=400")
	f("", "work,env:GOGC=400", "rev:HEAD", "work,env:GOGC=400")

	several := func(want string, others ...Side) {
		t.Helper()
		var got []string
		for _, s := range Complete(nil, others...) {
			got = append(got, s.String())
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("Sides(nil, %v) = %s, want %s", others, text, want)
		}
	}
	several("rev:HEAD rev:a rev:b", Side{Source: Revision, At: "a"}, Side{Source: Revision, At: "b"})
	several("work work,toolchain:go1.25.13 rev:b", Side{Toolchain: "go1.25.13"}, Side{Source: Revision, At: "b"})
}

func TestBuildEnv(t *testing.T) {
	s := Side{Env: []string{"GOGC=1", "GOAMD64=v3", "GOMEMLIMIT=1MiB"}, Toolchain: "go1.27.4", Experiment: "x"}
	got, want := strings.Join(s.buildEnv(), " "), "GOAMD64=v3 GOTOOLCHAIN=go1.27.4 GOEXPERIMENT=x"
	if got != want {
		t.Errorf("buildEnv = %s, want %s: the go command must not run under the settings of the program", got, want)
	}
	if a, b := (Side{Source: Work, Env: []string{"GOGC=1"}}), (Side{Source: Work}); a.code() != b.code() {
		t.Errorf("code %s and %s differ by a setting of the run", a.code(), b.code())
	}
}

// FuzzParseSide: what is accepted means the same when it is written out and
// read again.
func FuzzParseSide(f *testing.F) {
	for _, seed := range []string{"work", "rev:HEAD~1,env:GOGC=400", "dir:a,b", "env:GODEBUG=a=1,b=2",
		"tags:a,overlay:x", "experiment:,", ",,", "rev:env:x=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("ParseSide(%q) = %+v, written as %q and read as %+v, %v", text, s, s, again, err)
		}
	})
}
