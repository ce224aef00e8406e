package mintmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MintmarkError is implemented by every error of this package: those that Mintmark returns, and the failures of the client itself.
type MintmarkError interface {
	error
	mintmark()
}

// ErrorType is the stable name of an error that Mintmark returns. The constants of this type are for errors.Is:
//
//	if errors.Is(err, mintmark.ErrPoolNotFound) { … }
type ErrorType string

// Error returns the name.
func (t ErrorType) Error() string { return "mintmark: " + string(t) }

// APIError is an error that Mintmark returned. Errors with data have types of their own, such as [PoolNotFoundError], which are an APIError too:
// errors.As finds both.
type APIError struct {
	// The number of the error. Each type has one of its own.
	Code int64
	// The stable name of the error.
	Type ErrorType
	// What happened and what to do, for people.
	Message string
	// The details, Type included.
	Data json.RawMessage
	// The method that was called.
	Call string
	// The trace of the call.
	Trace string
}

// Error returns the method and the message.
func (e *APIError) Error() string { return "mintmark: " + e.Call + ": " + e.Message }

// Is reports whether target is the type of this error.
func (e *APIError) Is(target error) bool {
	kind, isType := target.(ErrorType)
	return isType && kind == e.Type
}

// As sets a target of the type **APIError.
func (e *APIError) As(target any) bool {
	found, fits := target.(**APIError)
	if fits {
		*found = e
	}
	return fits
}

// RetryAfter returns the time after which the same call can succeed; 0 for an error that does not pass by itself.
func (e *APIError) RetryAfter() time.Duration {
	var data struct {
		RetryAfterSeconds int64 `json:"retryAfterSeconds"`
	}
	_ = json.Unmarshal(e.Data, &data)
	return time.Duration(data.RetryAfterSeconds) * time.Second
}

func (e *APIError) mintmark() {}

// typed returns the error of its own type, where there is one.
func typed(answer *APIError) error {
	if make, isThere := typedErrors[answer.Type]; isThere {
		return make(answer)
	}
	return answer
}

// filled fills what fits: the data can be of another version.
func filled(answer *APIError, typed error) error {
	_ = json.Unmarshal(answer.Data, typed)
	return typed
}

// UsageError is returned for options or parameters that cannot be used.
type UsageError struct{ Reason string }

// Error returns the reason.
func (e *UsageError) Error() string { return "mintmark: " + e.Reason }

func (e *UsageError) mintmark() {}

// BinaryNotFoundError is returned if the program does not exist or cannot be run.
type BinaryNotFoundError struct {
	// The path or name of the program.
	Binary string
	// The error of the operating system.
	Cause error
}

const howToGetIt = "Build it in Mintmark's repository (clients/shell/mintmark --version makes .build/mintmark) and name it: Options{Binary: …}, " +
	"export MINTMARK_BINARY=$PWD/.build/mintmark, or put it on PATH."

// Error returns the place and what to do.
func (e *BinaryNotFoundError) Error() string {
	where := "named " + e.Binary + " on PATH"
	if strings.Contains(e.Binary, "/") {
		where = "at " + e.Binary
	}
	return fmt.Sprintf("mintmark: there is no program %s that can be run: %v. %s", where, e.Cause, howToGetIt)
}

// Unwrap returns the error of the operating system.
func (e *BinaryNotFoundError) Unwrap() error { return e.Cause }

func (e *BinaryNotFoundError) mintmark() {}

// BinaryTooOldError is returned if the program is older than this client, or lacks one of its methods.
type BinaryTooOldError struct {
	// The path or name of the program.
	Binary string
	// The version of the program; empty if it lacks a method.
	Version string
	// The method that it lacks; empty if its version is too low.
	Call string
	// The error that it returned if it lacks a method.
	Answer *APIError
}

// Error returns what to do.
func (e *BinaryTooOldError) Error() string {
	what := "is Mintmark " + e.Version
	if e.Call != "" {
		what = "has no method " + e.Call
	}
	return fmt.Sprintf("mintmark: %s %s: it is older than this client, which was made for Mintmark %s. Build or install the newer one; "+
		"mintmark --version says what it is, MINTMARK_BINARY or Options{Binary: …} names another.", e.Binary, what, ContractVersion)
}

// Unwrap returns the error of the program, if there is one.
func (e *BinaryTooOldError) Unwrap() error {
	if e.Answer == nil {
		return nil
	}
	return e.Answer
}

func (e *BinaryTooOldError) mintmark() {}

// ProcessEndedError is returned if the process ended before it answered. It is unknown whether the call took effect.
type ProcessEndedError struct {
	// The path or name of the program.
	Binary string
	// The exit status, -1 if a signal ended it.
	ExitCode int
	// How it ended, in words.
	Status string
	// The last lines that it wrote to standard error.
	Stderr []string
	// The method that was waiting.
	Call string

	advice     string
	isStranger bool
}

// Error returns how it ended, its last words, and what happens next.
func (e *ProcessEndedError) Error() string {
	parts := []string{fmt.Sprintf("mintmark: %s: the process %s ended before it answered: %s.", e.Call, e.Binary, e.Status)}
	switch e.ExitCode {
	case 2:
		parts = append(parts, "The store cannot be used; mintmark doctor says why.")
	case 64:
		parts = append(parts, "It refused its arguments: an option has a value it does not take, or it is older than this client.")
	}
	switch {
	case e.isStranger && e.ExitCode != 2 && e.ExitCode != 64 && e.ExitCode != 74:
		parts = append(parts, "Is it the right program? MINTMARK_BINARY or Options{Binary: …} names another.")
	case e.advice != "":
		parts = append(parts, e.advice)
	}
	if len(e.Stderr) > 0 {
		parts = append(parts, "Its last words: "+strings.Join(e.Stderr, "\n"))
	}
	return strings.Join(parts, " ")
}

func (e *ProcessEndedError) mintmark() {}

// ProtocolError is returned if the output of the program is not that of Mintmark, whose process is then killed, or if the result of one call
// does not fit its type.
type ProtocolError struct {
	// The path or name of the program.
	Binary string
	// The method whose result does not fit; empty if the process was killed.
	Call string
	// What is wrong.
	Reason string
	// The error of encoding/json for the result of a call.
	Cause error
}

// Error returns what is wrong and what to do.
func (e *ProtocolError) Error() string {
	if e.Call != "" {
		return fmt.Sprintf("mintmark: the answer of %s is not what this client takes: %s. Is the program newer than this client? %s --version says; "+
			"m.Call with a json.RawMessage gives the answer as it is.", e.Call, e.Reason, e.Binary)
	}
	return fmt.Sprintf("mintmark: %s does not answer as Mintmark does: %s. Is it the right program? MINTMARK_BINARY or Options{Binary: …} names another.", e.Binary, e.Reason)
}

// Unwrap returns the error of encoding/json, if there is one.
func (e *ProtocolError) Unwrap() error { return e.Cause }

func (e *ProtocolError) mintmark() {}

// CallTimeoutError is returned if the time limit of a call passed, its own or that of its context. The request was cancelled; it is unknown
// whether it took effect. errors.Is finds context.DeadlineExceeded in it.
type CallTimeoutError struct {
	// The method.
	Call string
	// context.DeadlineExceeded.
	Cause error
}

// Error returns the method.
func (e *CallTimeoutError) Error() string { return ended(e.Call, e.Cause) }

// Timeout returns true, as that of a net.Error.
func (e *CallTimeoutError) Timeout() bool { return true }

// Unwrap returns context.DeadlineExceeded.
func (e *CallTimeoutError) Unwrap() error { return e.Cause }

func (e *CallTimeoutError) mintmark() {}

// CallCancelledError is returned if the context of a call was cancelled. The request was cancelled; it is unknown whether it took effect.
// errors.Is finds context.Canceled in it.
type CallCancelledError struct {
	// The method.
	Call string
	// context.Canceled.
	Cause error
}

// Error returns the method.
func (e *CallCancelledError) Error() string { return ended(e.Call, e.Cause) }

// Unwrap returns context.Canceled.
func (e *CallCancelledError) Unwrap() error { return e.Cause }

func (e *CallCancelledError) mintmark() {}

// callEnded is the error of a call whose context has ended.
func callEnded(method string, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &CallTimeoutError{method, cause}
	}
	return &CallCancelledError{method, cause}
}

func ended(method string, cause error) string {
	return fmt.Sprintf("mintmark: %s was given up: %v. It was cancelled; it may have taken effect nevertheless.", method, cause)
}

// ClientClosedError is returned if the client or the CredentialsProvider was closed before the call.
type ClientClosedError struct {
	// The method.
	Call string

	isProvider bool
}

// Error returns what to do.
func (e *ClientClosedError) Error() string {
	if e.isProvider {
		return "mintmark: " + e.Call + " was called on a CredentialsProvider that is closed; make a new one."
	}
	return "mintmark: " + e.Call + " was called on a client that is closed; start a new one."
}

func (e *ClientClosedError) mintmark() {}
