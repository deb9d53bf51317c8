package secret_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/record/secret"
)

func TestArgs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := strings.Join(secret.Args(strings.Fields(in)), " "); got != want {
			t.Errorf("Args(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("passwordd -addr :80 -v", "passwordd -addr :80 -v")
	f("s -db-password=sesame --token sesame -api-key -x", "s -db-password=xxxxx --token xxxxx -api-key -x")
	f("s -db=postgres://me:sesame@host/db http://a:b@c", "s -db=postgres://me:xxxxx@host/db http://a:xxxxx@c")
	f("s AUTH=sesame", "s AUTH=xxxxx")
	f("s -p sesame -n 5", "s -p xxxxx -n 5")
	f("s -p 8080 -path /x", "s -p 8080 -path /x")
	f("s -Dkey=sesame -Dmonkey=x --key=k -keys=3", "s -Dkey=xxxxx -Dmonkey=x --key=xxxxx -keys=3")
	f("s Authorization:sesame Accept:text", "s Authorization:xxxxx Accept:text")
	got := secret.Args([]string{"s", "-H", "Authorization: Bearer sesame", "-H", "Accept: text"})
	if want := []string{"s", "-H", "Authorization: xxxxx", "-H", "Accept: text"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLine(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := secret.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("wrk -t2  -c8 http://localhost/x", "wrk -t2  -c8 http://localhost/x")
	f(`hey -H "Authorization: Bearer sesame now" -n 5 'http://me:sesame@h/'`,
		`hey -H "Authorization:xxxxx" -n 5 'http://me:xxxxx@h/'`)
	f(`curl -H 'Cookie: a=b; c=d' -H 'Accept: x' u`, `curl -H 'Cookie:xxxxx' -H 'Accept: x' u`)
	f("TOKEN=sesame load --password sesame -p 80", "TOKEN=xxxxx load --password xxxxx -p 80")
	f("http://me:sesame@h/ twice", "http://me:xxxxx@h/ twice")
}
