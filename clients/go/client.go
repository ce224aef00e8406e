package mintmark

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// Client is a Mintmark process and its methods. Any number of goroutines may share one.
type Client struct {
	Namespaces

	options       Options
	notifications *notifications
	mutex         sync.Mutex
	process       *process
	isClosed      bool
}

// Start starts the process and waits until it has said that it is Mintmark, and new enough.
func Start(ctx context.Context, options Options) (*Client, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	c := &Client{options: options, notifications: newNotifications(options.OnNotification)}
	c.bind(c)
	settings := callSettings{timeout: options.Timeout, isLimited: options.Timeout > 0}
	limited, cancel := settings.limit(ctx)
	defer cancel()
	if _, err := c.ready(limited, "system.info"); err != nil {
		// It was asked nothing yet: a context that has ended kills it.
		over, end := context.WithCancel(ctx)
		end()
		_ = c.Shutdown(over)
		return nil, err
	}
	return c, nil
}

// Testing starts a process with a new testing store, in memory unless the options name another. Package mintmarktest has its methods.
func Testing(ctx context.Context, options Options) (*Client, error) {
	if options.Store == "" && options.App == "" {
		options.Store = inMemory
	}
	options.Testing = true
	return Start(ctx, options)
}

// Call calls a method by its name, also one that this client does not know. Params are anything that has a JSON object; result is filled as by
// json.Unmarshal, and can be nil.
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

// CallWithProgress is Call that calls progress with each value that is reported, in the goroutine of the caller.
func (c *Client) CallWithProgress(
	ctx context.Context, method string, params, result any, progress func(json.RawMessage), options ...CallOption,
) error {
	return c.Call(ctx, method, params, result, append(options[:len(options):len(options)], func(s *callSettings) { s.progress = progress })...)
}

// Close lets the process answer what it was asked, and end; after 10 seconds it is killed. Later calls are refused.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return c.Shutdown(ctx)
}

// Shutdown is Close with a time of one's own: when the context ends the process is killed.
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

// ready is the process once it has said who it is; a new one where there is none, or where one has died whose data are still there.
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

// advised says of a process that ended what comes next.
func (c *Client) advised(err error) error {
	var ended *ProcessEndedError
	if errors.As(err, &ended) {
		ended.advice = "What was in memory is gone: start a new client, or one with Restart that goes on with an empty store."
		if c.options.Store != ":memory:" {
			ended.advice = "This client starts no other, as Restart has it: start a new client."
		}
		if c.options.restarts() {
			ended.advice = "The next call starts a new process."
		}
	}
	return err
}
