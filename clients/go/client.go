package mintmark

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// Client is a Mintmark process and its methods. It is safe for concurrent use by multiple goroutines.
type Client struct {
	Namespaces

	options       Options
	notifications *notifications
	mutex         sync.Mutex
	process       *process
	isClosed      bool
}

// Start starts the process and waits until it has reported a supported version.
func Start(ctx context.Context, options Options) (*Client, error) {
	options.place()
	if err := options.check(); err != nil {
		return nil, err
	}
	c := &Client{options: options, notifications: newNotifications(options.OnNotification)}
	c.bind(c)
	settings := callSettings{timeout: options.Timeout, isLimited: options.Timeout > 0}
	limited, cancel := settings.limit(ctx)
	defer cancel()
	if _, err := c.ready(limited, "system.info"); err != nil {
		// No call was sent yet, so Shutdown can kill the process with a context that has ended.
		over, end := context.WithCancel(ctx)
		end()
		_ = c.Shutdown(over)
		return nil, err
	}
	return c, nil
}

// Testing starts a process with a new testing store, which is in memory unless the options name a store. Package mintmarktest has the methods test.*.
func Testing(ctx context.Context, options Options) (*Client, error) {
	if options.Store == "" && options.App == "" {
		options.Store = inMemory
	}
	options.Testing = true
	return Start(ctx, options)
}

// Call calls a method by its name. Use it for methods that this client does not know. The params can be any value that encodes to a JSON object. The
// result is decoded into result as by json.Unmarshal; result can be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	answer, err := c.call(ctx, method, params, options)
	if err != nil || result == nil {
		return err
	}
	if err := decode(answer, result); err != nil {
		return &ProtocolError{Binary: c.options.binary(), Call: method, Reason: err.Error(), Cause: err}
	}
	return nil
}

// CallWithProgress is like Call, and calls progress with each progress value, in the goroutine of the caller.
func (c *Client) CallWithProgress(
	ctx context.Context, method string, params, result any, progress func(json.RawMessage), options ...CallOption,
) error {
	return c.Call(ctx, method, params, result, append(options[:len(options):len(options)], func(s *callSettings) { s.progress = progress })...)
}

// Close lets the process finish the requests that it has received, then waits for its exit. It kills the process after 10 seconds. Later calls fail
// with a ClientClosedError.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return c.Shutdown(ctx)
}

// Shutdown is like Close, but kills the process when the context ends.
func (c *Client) Shutdown(ctx context.Context) error {
	c.mutex.Lock()
	c.isClosed = true
	process := c.process
	c.mutex.Unlock()
	if process != nil {
		process.close(ctx)
	}
	return nil
}

func invoke[T any](ctx context.Context, c *Client, method string, params any, options []CallOption) (*T, error) {
	var result T
	if err := c.Call(ctx, method, params, &result, options...); err != nil {
		return nil, err
	}
	return &result, nil
}

func (s *callSettings) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.isLimited {
		return context.WithTimeout(ctx, s.timeout)
	}
	return ctx, func() {}
}

func (c *Client) call(ctx context.Context, method string, params any, options []CallOption) (json.RawMessage, error) {
	settings := callSettings{timeout: c.options.Timeout, isLimited: c.options.Timeout > 0}
	for _, each := range options {
		each(&settings)
	}
	ctx, cancel := settings.limit(ctx)
	defer cancel()
	body, err := requestBody(method, params, settings.trace, c.options.longestLine())
	if err != nil {
		return nil, err
	}
	process, err := c.ready(ctx, method)
	if err != nil {
		return nil, err
	}
	outcome := process.request(ctx, method, body, settings.progress)
	switch {
	case outcome.err != nil:
		return nil, c.advised(outcome.err)
	case outcome.message.Error != nil:
		return nil, c.answered(method, outcome.message, process)
	}
	if settings.raw != nil {
		*settings.raw = append(json.RawMessage(nil), outcome.message.Result...)
	}
	return outcome.message.Result, nil
}

func (c *Client) answered(method string, message *message, process *process) error {
	answer := message.Error.answer(method, message.Trace)
	if answer.Type != ErrMethodNotFound || !isKnown(method) {
		return typed(answer)
	}
	if strings.HasPrefix(method, "test.") && !c.options.Testing {
		answer.Message = method + " is offered by testing processes only: pass Options{Testing: true}."
		return typed(answer)
	}
	return &BinaryTooOldError{Binary: process.binary, Call: method, Answer: answer}
}

func isKnown(method string) bool {
	for _, name := range strings.Fields(methodNames) {
		if name == method {
			return true
		}
	}
	return false
}

// ready returns a process that has identified itself. It starts a process if there is none, or if the previous one has ended and its data still
// exist.
func (c *Client) ready(ctx context.Context, method string) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, callEnded(method, err)
	}
	process, err := c.running(method)
	if err != nil {
		return nil, err
	}
	select {
	case <-process.ready:
		return process, nil
	case <-process.ended:
		return nil, c.advised(process.failure(method))
	case <-ctx.Done():
		return nil, callEnded(method, ctx.Err())
	}
}

func (c *Client) running(method string) (*process, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return nil, &ClientClosedError{Call: method}
	}
	if c.process != nil && !(c.process.hasEnded() && c.options.restarts()) {
		return c.process, nil
	}
	process, err := start(&c.options, c.notifications.add)
	if err != nil {
		return nil, err
	}
	c.process = process
	return process, nil
}

// advised adds the next action to a ProcessEndedError.
func (c *Client) advised(err error) error {
	var ended *ProcessEndedError
	if errors.As(err, &ended) {
		ended.advice = "The store in memory is lost. Start a new client, or set Restart to continue with an empty store."
		if c.options.Store != ":memory:" {
			ended.advice = "Restart forbids a new process. Start a new client."
		}
		if c.options.restarts() {
			ended.advice = "The next call starts a new process."
		}
	}
	return err
}
