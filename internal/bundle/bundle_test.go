package bundle_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heaptrim/heaptrim/internal/bundle"
)

const head = `{"schema":"heaptrim.bundle/1","complete":true,`

// writeDir makes a directory of files.
func writeDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// archive makes a .tar.zst of entries; an entry without a type is a file.
func archive(t testing.TB, entries ...tarEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(enc)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		e.Mode, e.Size = 0o644, int64(len(e.content))
		if err := tw.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		tw.Write([]byte(e.content))
	}
	tw.Close()
	enc.Close()
	return out.Bytes()
}

type tarEntry struct {
	tar.Header
	content string
}

func file(name, content string) tarEntry {
	return tarEntry{Header: tar.Header{Name: name}, content: content}
}

func link(typ byte, name, to string) tarEntry {
	return tarEntry{Header: tar.Header{Name: name, Linkname: to, Typeflag: typ}}
}

func writeFile(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "b.tar.zst")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOpenSaysWhatIsLacking(t *testing.T) {
	dir := writeDir(t, map[string]string{
		"manifest.json": head + `"runs":[
			{"name":"a","parts":[{"path":"gone","kind":"cpu-profile"},{"path":"empty","kind":"gctrace"},{"path":"folder","kind":"perf"}]},
			{"name":"b","parts":[{"path":"odd","kind":"coffee"},{"path":"odd2","kind":"coffee"}]}]}`,
		"empty": "", "folder/x": "x", "odd": "x", "odd2": "x", "note.txt": "mine",
	})
	b := open(t, dir)
	wantProblems(t, b,
		`part gone (cpu-profile) of run "a" is missing`,
		`part empty (gctrace) of run "a" is empty`,
		`part folder (perf) of run "a" is not a regular file`,
		`nothing is recorded of run "a"`,
		`part odd is of a kind this version does not know: "coffee"`)
	if got := len(b.Manifest.Runs[1].Parts); got != 2 {
		t.Errorf("parts of an unknown kind: %d, want both kept", got)
	}
}

func TestOpenRefusesManifest(t *testing.T) {
	f := func(manifest string, want ...string) {
		t.Helper()
		dir := writeDir(t, map[string]string{"manifest.json": manifest, "x": "x"})
		_, err := bundle.Open(dir)
		wantErr(t, manifest, err, append(want, dir, "manifest.json")...)
	}
	part := func(p string) string { return head + `"runs":[{"name":"r","parts":[` + p + `]}]}` }
	f("", "is empty")
	f("{", "manifest.json:1 (byte 1)", "unexpected end")
	f("{\n\"schema\":3}", "manifest.json:2")
	f("[]", "manifest.json:1")
	f("{}", "no schema", `"heaptrim.bundle/1"`)
	f(`{"schema":"heaptrim.bundle/2","runs":7}`, `"heaptrim.bundle/2"`, `"heaptrim.bundle/1"`)
	f(head+`"runs":{}}`, "manifest.json:1", "runs")
	f(head+`"runs":[]} and more`, "after top-level value")
	f(head+`"environment":{"num_cpu":-2}}`, "negative")
	for _, gogc := range []string{"NaN", "-1", "1e9", "99999999999", " 100"} {
		f(head+`"environment":{"gogc":"`+gogc+`"}}`, "environment", `gogc "`+gogc+`"`)
	}
	f(part(`{"path":"x","wall_ns":-5}`), "negative", `"r"`)
	f(part(`{"path":"x","ops":1.5}`), "ops")
	for _, field := range []string{"rate", "ops", "wall_ns", "cpu_ns", "profiled_cpu_ns", "minor_faults", "sleeps", "cycles", "collector_cpu_ns", "peak_rss_bytes"} {
		f(part(`{"path":"x","`+field+`":-1}`), "negative", `"x"`)
	}
	for _, field := range []string{"minor_faults", "sleeps", "cycles"} {
		f(part(`{"path":"x","profiled_cpu_ns":1000000000,"`+field+`":9000000000000000000}`), field, `"x"`, "not plausible")
	}
	loop := func(lines string) string {
		return head + `"runs":[{"name":"r","parts":[],"loops":[{"file":"a_test.go",` + lines + `}]}]}`
	}
	f(loop(`"first":-5,"last":-1`), "a_test.go", "line -5")
	f(loop(`"first":0,"last":3`), "line 0")
	f(loop(`"first":9,"last":3`), "line 9 to line 3")
	line := func(c string) string { return head + `"runs":[{"name":"r","parts":[],"fresh_line":` + c + `}]}` }
	f(line(`{"threads":0,"live_bytes":1,"ns":{"value":1,"low":1,"high":1}}`), `"r"`, "fresh_line")
	f(line(`{"threads":1,"live_bytes":1,"ns":{"value":1,"low":2,"high":3}}`), "fresh_line")
	f(line(`{"threads":1,"live_bytes":1,"ns":{"value":1,"low":-1,"high":3}}`), "fresh_line")
	f(line(`{"threads":1,"live_bytes":1,"ns":{"value":1,"low":1,"high":1e300},"use_ns":2}`), "fresh_line")
	f(line(`{"threads":1,"live_bytes":1,"ns":{"value":3,"low":1,"high":4},"use_ns":2}`), "fresh_line", "use_ns 2")
	cycle := func(c string) string { return head + `"runs":[{"name":"r","parts":[],"cycle_cost":` + c + `}]}` }
	f(cycle(`{"pairs":0,"times":3,"ns":{"value":1,"low":1,"high":1}}`), `"r"`, "cycle_cost")
	f(cycle(`{"pairs":9,"times":1,"ns":{"value":1,"low":1,"high":1}}`), "cycle_cost")
	f(cycle(`{"pairs":9,"times":3,"ns":{"value":1,"low":2,"high":3}}`), "cycle_cost")
	f(cycle(`{"pairs":9,"times":3,"ns":{"value":1,"low":1,"high":1e300}}`), "cycle_cost")
	f(cycle(`{"pairs":9,"times":3,"ns":{"value":1,"low":-1e300,"high":1}}`), "cycle_cost")
	f(cycle(`{"pairs":"9"}`), "cycle_cost")
	f(part(`{"path":"x"},{"path":"x"}`), "twice")
	f(part(`{"path":"../x"}`), `"../x"`, "leaves the bundle")
	f(part(`{"path":"/etc/passwd"}`), `"/etc/passwd"`, "leaves the bundle")
	f(part(`{"path":"a\\..\\b"}`), "leaves the bundle")
	f(part(`{"path":""}`), "leaves the bundle")
}

func TestOpenRefusesLinkOutOfBundle(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	dir := writeDir(t, map[string]string{"manifest.json": head + `"runs":[{"name":"r","parts":[{"path":"x"}]}]}`})
	must(t, os.Symlink("/etc/hostname", filepath.Join(dir, "x")))
	_, err := bundle.Open(dir)
	wantErr(t, "link", err, "part x", "escapes")
}

func TestOpenRefusesOtherThings(t *testing.T) {
	_, err := bundle.Open(filepath.Join(t.TempDir(), "none"))
	wantErr(t, "missing", err, "none")
	_, err = bundle.Open(t.TempDir())
	wantErr(t, "plain directory", err, "no manifest.json")
	for _, content := range []string{"", "hello", "PK\x03\x04zip", "\x28\xb5\x2f\xfd", "\x28\xb5\x2f\xfdgarbage that is no frame"} {
		name := writeFile(t, []byte(content))
		_, err := bundle.Open(name)
		wantErr(t, content, err, name)
	}
}

func TestOpenArchive(t *testing.T) {
	const manifest = head + `"runs":[{"name":"r","parts":[{"path":"p/x"}]}]}`
	f := func(entries ...tarEntry) {
		t.Helper()
		b := open(t, writeFile(t, archive(t, entries...)))
		wantProblems(t, b, "kind this version does not know")
		got, err := os.ReadFile(b.Path(b.Manifest.Runs[0].Parts[0]))
		if string(got) != "content" {
			t.Errorf("part = %q, %v", got, err)
		}
		dir := filepath.Dir(filepath.Dir(b.Path(b.Manifest.Runs[0].Parts[0])))
		b.Close()
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("Close left %s", dir)
		}
	}
	f(file("manifest.json", manifest), file("p/x", "content"))
	f(file("./p/x", "content"), file("./manifest.json", manifest))
	f(link(tar.TypeDir, "mine/", ""), file("mine/manifest.json", manifest), link(tar.TypeDir, "mine/p/", ""), file("mine/p/x", "content"))
}

func TestOpenRefusesArchive(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := func(want string, entries ...tarEntry) {
		t.Helper()
		name := writeFile(t, archive(t, append([]tarEntry{file("manifest.json", head+`"runs":[]}`)}, entries...)...))
		_, err := bundle.Open(name)
		wantErr(t, want, err, name, want)
	}
	f(`"../evil"`, file("../evil", "x"))
	f(`"/evil"`, file("/evil", "x"))
	f(`"a/../../evil"`, file("a/../../evil", "x"))
	f(`"a\\b"`, file("a\\b", "x"))
	f(`"c:evil"`, file("c:evil", "x"))
	f("only regular files", link(tar.TypeSymlink, "s", "/etc/passwd"))
	f("only regular files", link(tar.TypeLink, "h", "manifest.json"))
	f("only regular files", link(tar.TypeChar, "null", ""))
	f("only regular files", link(tar.TypeFifo, "pipe", ""))
	f("twice", file("a", "x"), file("A", "y"))
	f("a/b", file("a", "x"), file("a/b", "y"))
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "heaptrim-bundle-*"))
	if len(left) != 0 || err != nil {
		t.Errorf("refused archives left %v, %v", left, err)
	}
	_, err = bundle.Open(writeFile(t, archive(t)))
	wantErr(t, "no entries", err, "archive is empty")
}

func TestOpenTruncatedArchive(t *testing.T) {
	whole := archive(t, file("manifest.json", head+`"runs":[{"name":"r","parts":[{"path":"x"}]}]}`),
		file("x", strings.Repeat("0123456789", 1000)))
	for n := range len(whole) {
		b, err := bundle.Open(writeFile(t, whole[:n]))
		if err == nil {
			t.Errorf("the first %d of %d bytes open: %+v", n, len(whole), b.Manifest)
			b.Close()
		}
	}
	_, err := bundle.Open(writeFile(t, whole[:len(whole)-3]))
	wantErr(t, "cut", err, "cut off", "bytes")
}

func TestPackRefuses(t *testing.T) {
	wantErr(t, "no bundle", bundle.Pack(t.TempDir(), filepath.Join(t.TempDir(), "x")), "not a bundle")
	dir := writeDir(t, map[string]string{"manifest.json": head + `"runs":[]}`})
	wantErr(t, "no folder", bundle.Pack(dir, filepath.Join(t.TempDir(), "none", "x")), "pack bundle")
}
