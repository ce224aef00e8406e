package mintmark

import (
	"bytes"
	"io"
	"sync"
)

// outbox writes lines to a pipe in order. Sending never blocks, even if the process stops reading.
type outbox struct {
	mutex   sync.Mutex
	changed *sync.Cond
	waiting [][]byte
	isEnded bool
	pipe    io.WriteCloser
}

func newOutbox(pipe io.WriteCloser) *outbox {
	o := &outbox{pipe: pipe}
	o.changed = sync.NewCond(&o.mutex)
	go o.run()
	return o
}

func (o *outbox) send(line []byte) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.isEnded {
		o.waiting = append(o.waiting, line)
		o.changed.Signal()
	}
}

// end closes the pipe after all queued lines are written.
func (o *outbox) end() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.isEnded = true
	o.changed.Signal()
}

// discard closes the pipe immediately and discards the queued lines.
func (o *outbox) discard() {
	o.mutex.Lock()
	o.isEnded, o.waiting = true, nil
	o.changed.Signal()
	o.mutex.Unlock()
	o.pipe.Close()
}

func (o *outbox) run() {
	defer o.pipe.Close()
	for {
		o.mutex.Lock()
		for len(o.waiting) == 0 && !o.isEnded {
			o.changed.Wait()
		}
		lines := o.waiting
		o.waiting = nil
		o.mutex.Unlock()
		if len(lines) == 0 {
			return
		}
		if _, err := o.pipe.Write(bytes.Join(lines, nil)); err != nil {
			// The process has closed its input. Its output reports its end.
			return
		}
	}
}
