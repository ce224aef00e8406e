package mintmark

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"
)

// log keeps the last lines that a process writes to standard error, and copies all lines to a writer.
type log struct {
	reader, writer *os.File
	onward         io.Writer
	done           chan struct{}
	mutex          sync.Mutex
	lines          []string
}

const keptLines = 20

func newLog(onward io.Writer) (*log, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if onward == nil {
		onward = os.Stderr
	}
	l := &log{reader: reader, writer: writer, onward: onward, done: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *log) run() {
	defer close(l.done)
	lines := bufio.NewReader(l.reader)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			io.WriteString(l.onward, line)
			if line[len(line)-1] == '\n' {
				line = line[:len(line)-1]
			}
			l.mutex.Lock()
			if l.lines = append(l.lines, line); len(l.lines) > keptLines {
				l.lines = l.lines[1:]
			}
			l.mutex.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// finish waits for the last lines, for at most one second: a grandchild process can hold the pipe open.
func (l *log) finish() {
	select {
	case <-l.done:
	case <-time.After(time.Second):
	}
	l.reader.Close()
}

func (l *log) abandon() {
	l.writer.Close()
	<-l.done
	l.reader.Close()
}

func (l *log) last() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return append([]string(nil), l.lines...)
}
