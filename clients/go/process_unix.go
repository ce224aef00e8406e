//go:build !windows

package mintmark

import (
	"os/exec"
	"syscall"
)

// separate puts the process into its own group, so that an interrupt at the terminal reaches only this program, which then closes the pipe.
func separate(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the process group. If the program is a script, its child process holds the same pipes.
func kill(command *exec.Cmd) {
	// After the process was waited for, its PID can belong to another process.
	if command.Process.Signal(syscall.Signal(0)) == nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
}
