package ballast

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	f := func(o Options, wantErr string) {
		t.Helper()
		_, err := o.check()
		if wantErr == "" {
			if err != nil {
				t.Errorf("check(%+v) = %v", o, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("check(%+v) = %v, want an error with %q", o, err, wantErr)
		}
	}
	f(Options{}, "")
	f(Options{Mode: Classic, Ballast: 10 << 30}, "")
	f(Options{Mode: Steer, Headroom: 1 << 30, MaxMemory: 2 << 30, MinGOGC: 25, Reserve: 0.3}, "")
	f(Options{Mode: Steer}, "")
	f(Options{Mode: Limit, MaxMemory: 1 << 30}, "")
	f(Options{Mode: 4}, "no such mode: 4")
	f(Options{Mode: -1}, "no such mode: -1")
	f(Options{Mode: Classic}, "needs the size")
	f(Options{Mode: Classic, Ballast: -1}, "Ballast is negative: -1")
	f(Options{Mode: Steer, Headroom: -1 << 63}, "Headroom is negative")
	f(Options{MaxMemory: -5}, "MaxMemory is negative")
	f(Options{MaxMemory: 512}, "less than 1 MiB")
	f(Options{MaxMemory: 1 << 62}, "more than 64 TiB")
	f(Options{Ballast: 1 << 30}, "mode auto has no ballast")
	f(Options{Mode: Limit, Headroom: 1 << 30}, "mode limit has no headroom")
	f(Options{Reserve: -0.1}, "Reserve is -0.1")
	f(Options{Reserve: 0.95}, "Reserve is 0.95")
	nan := 0.0
	f(Options{Reserve: nan / nan}, "Reserve is NaN")
	f(Options{MinGOGC: 5}, "MinGOGC is 5")
	f(Options{MinGOGC: 4000}, "MinGOGC is 4000")
}

func TestParse(t *testing.T) {
	f := func(text string, want Options) {
		t.Helper()
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	f("auto", Options{})
	f("auto=3GiB,reserve=0.2", Options{MaxMemory: 3 << 30, Reserve: 0.2})
	f("classic=10GiB", Options{Mode: Classic, Ballast: 10 << 30})
	f("steer=2048MiB, max=3GiB, mingogc=75", Options{Mode: Steer, Headroom: 2 << 30, MaxMemory: 3 << 30, MinGOGC: 75})
	f("steer,max=3221225472", Options{Mode: Steer, MaxMemory: 3 << 30})
	f("limit=1TiB", Options{Mode: Limit, MaxMemory: 1 << 40})
	f("limit=1048576B", Options{Mode: Limit, MaxMemory: 1 << 20})
}

func TestParseErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if o, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %+v, %v, want an error with %q", text, o, err, want)
		}
	}
	f("", "want auto, classic, steer or limit first")
	f("fast", "want auto, classic, steer or limit first")
	f("auto=", "is not a number of bytes")
	f("classic", "needs the size")
	f("classic=10GB", `"GB" is not a unit`)
	f("classic=-1GiB", "is not a number of bytes")
	f("classic=1.5GiB", "is not a number of bytes")
	f("classic=99999999TiB", "more than fits")
	f("classic=999TiB", "more than 64 TiB")
	f("auto,max", "is not a number of bytes")
	f("auto,reserve=much", "invalid syntax")
	f("auto,reserve=2", "Reserve is 2")
	f("auto,mingogc=1e9", "invalid syntax")
	f("auto,gogc=100", "want max, reserve or mingogc")
	f("auto,,", "want max, reserve or mingogc")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"auto", "steer=2GiB,max=3GiB,mingogc=75", "classic=1TiB", "limit=1B", "auto,reserve=NaN", "=,="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := Parse(s)
		if err != nil {
			return
		}
		if _, err := o.check(); err != nil {
			t.Errorf("Parse(%q) = %+v, which check refuses: %v", s, o, err)
		}
	})
}
