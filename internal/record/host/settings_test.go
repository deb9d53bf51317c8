package host

import "testing"

func TestStartGOGC(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		if got := StartGOGC(value); got != want {
			t.Errorf("startGOGC(%q) = %q, want %q", value, got, want)
		}
	}
	f("", "100")
	f("400", "400")
	f("0", "0")
	f("+50", "50")
	f("off", "off")
	f("-1", "off")
	f("NaN", "100")
	f("1.5", "100")
	f("99999999999", "100")
	f("OFF", "100")
}
