package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// packed makes an archive of n parts of 1000 bytes.
func packed(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	w, err := Create(dir, evidence.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	run := w.Run(evidence.Run{Name: "r"})
	for i := range n {
		from := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(from, make([]byte, 1000), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := w.Adopt(run, evidence.Part{Path: string(rune('a' + i)), Kind: evidence.KindCPU}, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	file := dir + ".tar.zst"
	if err := Pack(dir, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLimits(t *testing.T) {
	name := packed(t, 3)
	f := func(edit func(*Limits), want string) {
		t.Helper()
		limits := defaultLimits()
		edit(&limits)
		b, err := openArchive(name, limits)
		if err == nil {
			defer b.Close()
		}
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("limits %+v: error %v, want %q", limits, err, want)
		}
	}
	f(func(*Limits) {}, "")
	f(func(l *Limits) { l.Entries = 3 }, "more than 3 entries")
	f(func(l *Limits) { l.File = 999 }, "limit of 999 B a file")
	f(func(l *Limits) { l.Total = 3000 }, "limit of 2.9 KiB")
	f(func(l *Limits) { l.Window = 1 << 10 }, "exceeds configured limit")
	b, err := openArchive(name, defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.fits(Limits{File: 999, Total: unit.GiB, Entries: 10}); err == nil {
		t.Error("Pack would write a part that Open refuses")
	}
	if err := b.fits(Limits{File: unit.GiB, Total: 2999, Entries: 10}); err == nil {
		t.Error("Pack would write an archive that Open refuses")
	}
}

// TestAfterTheTar checks that only padding may follow the end of a tar.
func TestAfterTheTar(t *testing.T) {
	whole, err := os.ReadFile(packed(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	unzip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unzip.Close()
	plain, err := unzip.DecodeAll(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	end := len(plain)
	f := func(name, want string, after ...[]byte) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "b.tar.zst")
		if err := os.WriteFile(file, slices.Concat(append([][]byte{whole}, after...)...), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := Open(file)
		if err == nil {
			b.Close()
		}
		if err == nil != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file)) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	zeros := func(n int) []byte { return zip.EncodeAll(make([]byte, n), nil) }
	f("nothing", "")
	f("padding", "", zeros(10<<10))
	f("much padding", "more data at byte", zeros(maxPadding+64<<10))
	f("another archive", fmt.Sprintf("more data at byte %d of", end), whole)
	f("another archive after padding", fmt.Sprintf("more data at byte %d of", end+70_000), zeros(70_000), whole)
	f("one byte", fmt.Sprintf("more data at byte %d of", end), zip.EncodeAll([]byte("x"), nil))
	f("no zstd", "after the tar archive", []byte("garbage"))
}

func FuzzArchive(f *testing.F) {
	data, err := os.ReadFile(packed(f, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	dir := f.TempDir()
	limits := Limits{File: unit.MiB, Total: 2 * unit.MiB, Entries: 50, Window: 8 * unit.MiB}
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(dir, "in.tar.zst")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := openArchive(name, limits)
		if err != nil {
			return
		}
		inside(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"heaptrim.bundle/1","runs":[{"name":"r","parts":[{"path":"x","kind":"perf"}]}]}`))
	f.Add([]byte(`{"schema":"heaptrim.bundle/1","runs":[{"parts":[{"path":"../x"}]}]}`))
	f.Add([]byte(`{"schema":"heaptrim.bundle/9"}`))
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, ManifestName), data, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := Open(dir)
		if err == nil {
			inside(t, b)
		}
	})
}

// inside checks that every part of an opened bundle is a readable file in it.
func inside(t *testing.T, b *Bundle) {
	t.Helper()
	for _, run := range b.Manifest.Runs {
		for _, p := range run.Parts {
			rel, err := filepath.Rel(b.at.dir, b.Path(p))
			if err != nil || !filepath.IsLocal(rel) {
				t.Errorf("part %q is at %q, outside the bundle", p.Path, b.Path(p))
			}
			if info, err := os.Stat(b.Path(p)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("part %q cannot be read: %v", p.Path, err)
			}
		}
	}
}
