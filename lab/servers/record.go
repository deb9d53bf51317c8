package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// record makes the recording of a server, unless it is there.
func (l *lab) record(ctx context.Context, s server) error {
	dir := filepath.Join(l.dir, s.name)
	if _, err := os.Stat(filepath.Join(dir, "rec.htb")); err == nil {
		return nil
	}
	const unfinished = "unfinished.htb"
	for _, name := range append([]string{unfinished}, s.data...) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	load := fmt.Sprintf("'%s' -address %s -for %s %s", l.load(), s.address, l.length, s.name)
	args := []string{l.heaptrim, "record", "-o", unfinished, "-exec", s.exec, "-ready", s.ready, "-load", load, "--"}
	if err := l.command(ctx, dir, append(args, s.args...)...); err != nil {
		return err
	}
	return os.Rename(filepath.Join(dir, unfinished), filepath.Join(dir, "rec.htb"))
}

// finding is the part of a report's row that is printed.
type finding struct {
	Code string
	Site struct {
		Function, File string
		Line           int
	}
	Life *struct {
		End, Function, Holder, Unseen string
	}
	Remedy     struct{ Text string }
	Prediction *struct {
		CPU *struct{ Value float64 } `json:"cpu_share"`
	}
}

// report makes page and report of a recording and prints the first rows.
func (l *lab) report(ctx context.Context, s server) error {
	dir := filepath.Join(l.dir, s.name)
	err := l.command(ctx, dir, l.heaptrim, "check", "-own", s.own, "-html", "page.html", "-json", "report.json", "rec.htb")
	var status *exec.ExitError
	if err != nil && !(errors.As(err, &status) && status.ExitCode() == 3) { // 3: there are findings
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check wrote no report")
	}
	if err != nil {
		return err
	}
	var rep struct{ Findings []finding }
	if err := json.Unmarshal(text, &rep); err != nil {
		return err
	}
	fmt.Printf("%s %s: %d findings\n", s.name, s.version, len(rep.Findings))
	for i, f := range rep.Findings[:min(l.rows, len(rep.Findings))] {
		saves := "?"
		if f.Prediction != nil && f.Prediction.CPU != nil {
			saves = fmt.Sprintf("%.1f %%", 100*f.Prediction.CPU.Value)
		}
		fmt.Printf("%3d  saves %s  %s:%d  %s\n     [%s] %s\n", i+1, saves, f.Site.File, f.Site.Line, f.Site.Function,
			f.Code, f.Remedy.Text)
		if f.Life != nil {
			fmt.Printf("     life: %s %s %s %s\n", f.Life.End, f.Life.Function, f.Life.Holder, f.Life.Unseen)
		}
	}
	return nil
}
