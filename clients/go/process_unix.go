//go:build !windows

package mintmark

import (
	"os/exec"
	"syscall"
)

// separate puts the process into a group of its own: the interrupt key is for this program, which then closes the pipe.
func separate(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
