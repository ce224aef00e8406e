package mintmark

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

const (
	// The maximum length of a line, in bytes: a result of 16 MiB and its envelope.
	longestAnswer = 17 << 20

	// infoID is the ID of the first request, system.info. Calls have higher IDs.
	infoID = "0"
)

// process is one process of mintmark serve and its pipes.
type process struct {
	binary string

	// ready is closed when the process has identified itself, ended when it has exited and its log is complete.
	ready, ended chan struct{}

	command *exec.Cmd
	input   *outbox
	log     *log
	notify  func(Notification)
	hooks   *HookFunctions

	mutex    sync.Mutex
	lastID   int64
	pending  map[string]*waiting
	isEnding bool
	refusal  error
}

// outcome is the result of a request: a response, or an error of the client.
type outcome struct {
	message *message
	err     error
}

func start(options *Options, notify func(Notification)) (*process, error) {
	p := &process{
		binary: options.binary(), ready: make(chan struct{}), ended: make(chan struct{}),
		pending: map[string]*waiting{}, notify: notify, hooks: &options.Hooks,
	}
	p.command = exec.Command(p.binary, options.arguments()...)
	p.command.Env = options.environment()
	separate(p.command)
	stdin, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	p.log, err = newLog(options.Stderr)
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, err
	}
	p.command.Stderr = p.log.writer
	if err := p.command.Start(); err != nil {
		p.log.abandon()
		stdin.Close()
		stdout.Close()
		return nil, &BinaryNotFoundError{p.binary, err}
	}
	p.log.writer.Close()
	p.input = newOutbox(stdin)
	p.input.send([]byte(`{"jsonrpc":"2.0","id":0,"method":"system.info"}` + "\n"))
	if len(p.hooks.names()) > 0 {
		p.input.send(p.hooks.offer())
	}
	go p.read(stdout)
	return p, nil
}

// request sends a request and waits for its outcome. body is the request without its beginning. progress, which may be nil, receives the progress
// values.
func (p *process) request(ctx context.Context, method string, body []byte, progress func(json.RawMessage)) outcome {
	call := &waiting{answer: make(chan outcome, 1)}
	if progress != nil {
		call.more, call.isListening = make(chan struct{}, 1), true
	}
	p.mutex.Lock()
	if p.isEnding {
		p.mutex.Unlock()
		<-p.ended
		return outcome{err: p.failure(method)}
	}
	p.lastID++
	id := strconv.FormatInt(p.lastID, 10)
	p.pending[id] = call
	p.mutex.Unlock()
	line := make([]byte, 0, len(head)+len(body)+40)
	line = append(append(line, head...), id...)
	if progress != nil {
		line = append(append(line, `,"progressToken":`...), id...)
	}
	p.input.send(append(line, body...))

	for {
		select {
		case <-call.more:
			p.tell(call, progress)
		case found := <-call.answer:
			if progress != nil {
				p.tell(call, progress)
			}
			if found.message == nil {
				found.err = p.failure(method)
			}
			return found
		case <-ctx.Done():
			if !p.forget(id) {
				// The response has arrived at the same time, or the process has ended.
				if found := <-call.answer; found.message != nil {
					return found
				}
			}
			p.input.send([]byte(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + "}}\n"))
			return outcome{err: callEnded(method, ctx.Err())}
		}
	}
}

func (p *process) forget(id string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, waits := p.pending[id]
	delete(p.pending, id)
	return waits
}

// close closes the input. The process finishes the requests that it has received, then exits. It is killed if the context ends first.
func (p *process) close(ctx context.Context) {
	p.input.end()
	select {
	case <-p.ended:
	case <-ctx.Done():
		kill(p.command)
		<-p.ended
	}
}

// isKnown reports whether the process has identified itself.
func (p *process) isKnown() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

func (p *process) hasEnded() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.isEnding
}

// failure returns the error for a call that failed because the process has ended.
func (p *process) failure(method string) error {
	<-p.ended
	if p.refusal != nil {
		return p.refusal
	}
	state := p.command.ProcessState
	return &ProcessEndedError{
		Binary: p.binary, ExitCode: state.ExitCode(), Status: state.String(), Stderr: p.log.last(), Call: method, isStranger: !p.isKnown(),
	}
}

// The functions below run in the goroutine that reads the output.

func (p *process) read(stdout io.Reader) {
	lines := bufio.NewReaderSize(stdout, 1<<16)
	var line []byte
	for p.refusal == nil {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		if err == bufio.ErrBufferFull && len(line) <= longestAnswer {
			continue
		}
		if err != nil && err != bufio.ErrBufferFull {
			break
		}
		p.refusal = p.take(line)
		line = nil
	}
	p.mutex.Lock()
	p.isEnding = true
	p.mutex.Unlock()
	if p.refusal != nil {
		kill(p.command)
	}
	p.finish()
}

// take passes a response to its call. It returns an error if the output is not valid Mintmark output.
func (p *process) take(line []byte) error {
	message := quickly(line)
	if message == nil {
		message = slowly(line)
	}
	if len(line) > longestAnswer || message.Version != "2.0" {
		if len(line) > 80 {
			line = line[:80]
		}
		return &ProtocolError{Binary: p.binary, Reason: "it wrote " + strconv.Quote(string(line))}
	}
	id := string(message.ID)
	switch {
	case message.Method == "" && message.Result == nil && message.Error == nil:
		return &ProtocolError{Binary: p.binary, Reason: "it wrote an answer without a result or an error"}
	case message.Method != "" && id != "":
		go p.answer(message)
	case id == offerID:
		if message.Error != nil {
			return typed(message.Error.answer("hooks.offer", message.Trace))
		}
		p.settleReady()
	case message.Method != "":
		p.takeNotification(Notification{message.Method, message.Params})
	case id == infoID:
		if !p.isKnown() {
			return p.judge(message)
		}
	case (id == "" || id == "null") && message.Error != nil:
		if !p.isKnown() {
			// No request except system.info was sent yet.
			return &ProtocolError{Binary: p.binary, Reason: "it cannot read system.info: " + message.Error.Message}
		}
		// The process could not parse a line, so the error has no ID. Every waiting call fails with it.
		p.settleAll(outcome{message: message})
	default:
		p.mutex.Lock()
		call := p.pending[id]
		delete(p.pending, id)
		p.mutex.Unlock()
		if call != nil {
			call.answer <- outcome{message: message}
		}
	}
	return nil
}

// judge checks the version of the process. A process that does not allow system.info counts as supported.
func (p *process) judge(message *message) error {
	var info struct {
		Version string `json:"version"`
	}
	if message.Error == nil && json.Unmarshal(message.Result, &info) == nil && isBelow(info.Version, ContractVersion) {
		return &BinaryTooOldError{Binary: p.binary, Version: info.Version}
	}
	if len(p.hooks.names()) == 0 {
		p.settleReady()
	}
	return nil
}

// settleReady lets calls begin: the process has identified itself, and it has accepted the offer of hooks.
func (p *process) settleReady() {
	if !p.isKnown() {
		close(p.ready)
	}
}

func (p *process) settleAll(found outcome) {
	p.mutex.Lock()
	calls := p.pending
	p.pending = map[string]*waiting{}
	p.mutex.Unlock()
	for _, call := range calls {
		call.answer <- found
	}
}

// finish waits until the process has exited, then fails the waiting calls.
func (p *process) finish() {
	p.input.end()
	// A process that has closed its output but does not exit is killed.
	timer := time.AfterFunc(10*time.Second, func() { kill(p.command) })
	p.command.Wait()
	timer.Stop()
	p.input.discard()
	p.log.finish()
	close(p.ended)
	p.settleAll(outcome{})
}
