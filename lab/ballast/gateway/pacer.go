//go:build unix

package gateway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Pace sends requests to the sockets from file descriptor 3 on, one for each of the
// workers, at the rate of p and for its duration. It is what a process does that
// (*Service).Load has started with [Sockets]. A request is the time when it was due,
// which stays right if it is sent later because its worker is far behind.
func Pace(workers int, p Phase) error {
	period := time.Duration(1e9 / p.Rate)
	start := time.Now()
	var request [8]byte
	for i := 0; ; i++ {
		at := period * time.Duration(i)
		if at > p.Duration {
			return nil
		}
		if wait := at - time.Since(start); wait > 0 {
			pause(wait)
		}
		binary.LittleEndian.PutUint64(request[:], uint64(start.Add(at).UnixNano()))
		if _, err := syscall.Write(3+i%workers, request[:]); errors.Is(err, syscall.EPIPE) {
			return nil // they have given up
		} else if err != nil {
			return fmt.Errorf("send request %d: %w", i, err)
		}
	}
}

// Sockets says which program paces the requests, in a process of its own, when it is run
// with Arguments and a number of workers, a rate and a duration behind them. So the
// requests come from the system as in a server, and not by timers.
type Sockets struct {
	Program   string
	Arguments []string
}

// pacing is a running pacer and the near ends of its sockets.
type pacing struct {
	cmd   *exec.Cmd
	conns []*os.File
}

func (s Sockets) start(workers int, p Phase) (*pacing, error) {
	args := append([]string{}, s.Arguments...)
	args = append(args, strconv.Itoa(workers), strconv.FormatFloat(p.Rate, 'g', -1, 64), p.Duration.String())
	run := &pacing{cmd: exec.Command(s.Program, args...)}
	run.cmd.Stderr = os.Stderr
	defer func() {
		for _, far := range run.cmd.ExtraFiles {
			far.Close()
		}
	}()
	for range workers {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return nil, err
		}
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
		if err := syscall.SetNonblock(pair[0], true); err != nil {
			return nil, err
		}
		run.conns = append(run.conns, os.NewFile(uintptr(pair[0]), "requests"))
		run.cmd.ExtraFiles = append(run.cmd.ExtraFiles, os.NewFile(uintptr(pair[1]), "pacer"))
	}
	return run, run.cmd.Start()
}

// stop waits for the pacer's end.
func (p *pacing) stop() error {
	for _, c := range p.conns {
		c.Close()
	}
	return p.cmd.Wait()
}

// receive waits for a request and returns when it was due, or io.EOF after the last
// one.
func receive(conn *os.File) (time.Time, error) {
	var request [8]byte
	if _, err := io.ReadFull(conn, request[:]); err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, int64(binary.LittleEndian.Uint64(request[:]))), nil
}
