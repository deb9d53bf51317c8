package process

import (
	"os"
	"os/exec"
	"runtime"
)

// Run runs a command to its end in a process group of its own, and then ends what it left
// running in that group. When the command's context ends, the whole group is killed. On Linux
// the command also dies with heaptrim. started, unless nil, is called with the process.
func Run(cmd *exec.Cmd, started func(*os.Process)) error {
	cmd.SysProcAttr = ownGroup()
	if cmd.Cancel != nil { // made with a context
		cmd.Cancel = func() error {
			killGroup(cmd.Process)
			return nil
		}
	}
	done := make(chan error, 1)
	go func() {
		// Linux kills the child (Pdeathsig) when the thread that started it ends. The thread is
		// not given back, so it ends with this goroutine.
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			done <- err
			return
		}
		if started != nil {
			started(cmd.Process)
		}
		err := cmd.Wait()
		killGroup(cmd.Process)
		done <- err
	}()
	return <-done
}
