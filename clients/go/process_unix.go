//go:build !windows

package mintmark

import (
	"os/exec"
	"syscall"
)

// separate puts the process into a group of its own: the interrupt key is for this program, which then closes the pipe.
func separate(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the process with all that it has started: the Mintmark of a script that runs it holds the same pipes.
func kill(command *exec.Cmd) {
	// The number of one that was waited for may be another's.
	if command.Process.Signal(syscall.Signal(0)) == nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
}
