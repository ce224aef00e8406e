package mintmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MintmarkError is implemented by every error of this package: the errors that Mintmark returns and the errors of the client.
type MintmarkError interface {
	error
	mintmark()
}

// ErrorType is the stable name of an error that Mintmark returns. Pass the constants of this type to errors.Is:
//
//	if errors.Is(err, mintmark.ErrPoolNotFound) { … }
type ErrorType string

// Error returns the name.
func (t ErrorType) Error() string { return "mintmark: " + string(t) }

// APIError is an error that Mintmark returned. Errors with data have specific types, such as [PoolNotFoundError]. errors.As finds both the specific
// type and the APIError.
type APIError struct {
	// The number of the error, which is unique to its type.
	Code int64
	// The stable name of the error.
	Type ErrorType
	// The text for the developer: the problem and the recommended action.
	Message string
	// The details, including Type.
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

// RetryAfter returns the time after which the same call can succeed, or 0 if a retry cannot succeed.
func (e *APIError) RetryAfter() time.Duration {
	var data struct {
		RetryAfterSeconds int64 `json:"retryAfterSeconds"`
	}
	_ = json.Unmarshal(e.Data, &data)
	return time.Duration(data.RetryAfterSeconds) * time.Second
}

func (e *APIError) mintmark() {}

// typed converts an error to its specific type, if there is one.
func typed(answer *APIError) error {
	if make, isThere := typedErrors[answer.Type]; isThere {
		return make(answer)
	}
	return answer
}

// filled decodes the details into a typed error. Members that do not fit are ignored, because the data can have another version.
func filled(answer *APIError, typed error) error {
	_ = json.Unmarshal(answer.Data, typed)
	return typed
}

// UsageError is returned for invalid options or parameters.
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

const howToGetIt = "Install Mintmark, or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). " +
	"Then set its path with Options{Binary: …} or MINTMARK_BINARY, or put it on the PATH."

// Error returns the path or name and the recommended action.
func (e *BinaryNotFoundError) Error() string {
	where := "named " + e.Binary + " on PATH"
	if strings.Contains(e.Binary, "/") {
		where = "at " + e.Binary
	}
	return fmt.Sprintf("mintmark: the program %s does not exist or cannot be run: %v. %s", where, e.Cause, howToGetIt)
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
	// The missing method; empty if the version is too old.
	Call string
	// The error that the program returned, if it lacks a method.
	Answer *APIError
}

// Error returns the reason and the recommended action.
func (e *BinaryTooOldError) Error() string {
	what := "is Mintmark " + e.Version
	if e.Call != "" {
		what = "does not have the method " + e.Call
	}
	return fmt.Sprintf("mintmark: %s %s, which is older than this client for Mintmark %s. Install a newer program, or set the path of another one "+
		"with Options{Binary: …} or MINTMARK_BINARY.", e.Binary, what, ContractVersion)
}

// Unwrap returns the error of the program, if there is one.
func (e *BinaryTooOldError) Unwrap() error {
	if e.Answer == nil {
		return nil
	}
	return e.Answer
}

func (e *BinaryTooOldError) mintmark() {}

// ProcessEndedError is returned if the process ended before it returned a response. It is unknown whether the call took effect.
type ProcessEndedError struct {
	// The path or name of the program.
	Binary string
	// The exit status, or -1 if a signal ended the process.
	ExitCode int
	// The description of the exit status.
	Status string
	// The last lines that the process wrote to standard error.
	Stderr []string
	// The method that was waiting for a response.
	Call string

	advice     string
	isStranger bool
}

// Error returns the exit status, the last log lines and the recommended action.
func (e *ProcessEndedError) Error() string {
	parts := []string{fmt.Sprintf("mintmark: %s: the process %s ended before it responded: %s.", e.Call, e.Binary, e.Status)}
	switch e.ExitCode {
	case 2:
		parts = append(parts, "The store cannot be used; mintmark doctor reports the reason.")
	case 64:
		parts = append(parts, "Its arguments are not valid: an option has a wrong value, or the program is older than this client.")
	}
	switch {
	case e.isStranger && e.ExitCode != 2 && e.ExitCode != 64 && e.ExitCode != 74:
		parts = append(parts, "Is it the right program? Set another path with Options{Binary: …} or MINTMARK_BINARY.")
	case e.advice != "":
		parts = append(parts, e.advice)
	}
	if len(e.Stderr) > 0 {
		parts = append(parts, "Its last log lines: "+strings.Join(e.Stderr, "\n"))
	}
	return strings.Join(parts, " ")
}

func (e *ProcessEndedError) mintmark() {}

// ProtocolError is returned if the output of the program is not valid Mintmark output, in which case the process is killed, or if the result of a
// call does not fit its type.
type ProtocolError struct {
	// The path or name of the program.
	Binary string
	// The method whose result does not fit its type; empty if the process was killed.
	Call string
	// The problem.
	Reason string
	// The error of encoding/json, if the result of a call does not fit.
	Cause error
}

// Error returns the problem and the recommended action.
func (e *ProtocolError) Error() string {
	if e.Call != "" {
		return fmt.Sprintf("mintmark: the result of %s does not have the type that this client expects: %s. Is the program newer than this client? "+
			"%s --version prints its version. m.Call with a json.RawMessage returns the result without decoding it.", e.Call, e.Reason, e.Binary)
	}
	return fmt.Sprintf("mintmark: %s does not respond like Mintmark: %s. Is it the right program? "+
		"Set another path with Options{Binary: …} or MINTMARK_BINARY.", e.Binary, e.Reason)
}

// Unwrap returns the error of encoding/json, if there is one.
func (e *ProtocolError) Unwrap() error { return e.Cause }

func (e *ProtocolError) mintmark() {}

// CallTimeoutError is returned if the time limit of a call or the deadline of its context passes. The request was canceled; it is unknown whether it
// took effect. errors.Is finds context.DeadlineExceeded in it.
type CallTimeoutError struct {
	// The method that was called.
	Call string
	// context.DeadlineExceeded.
	Cause error
}

// Error returns the method and the cause.
func (e *CallTimeoutError) Error() string { return ended(e.Call, e.Cause) }

// Timeout returns true, as for a net.Error.
func (e *CallTimeoutError) Timeout() bool { return true }

// Unwrap returns context.DeadlineExceeded.
func (e *CallTimeoutError) Unwrap() error { return e.Cause }

func (e *CallTimeoutError) mintmark() {}

// CallCancelledError is returned if the context of a call was canceled. The request was canceled; it is unknown whether it took effect. errors.Is
// finds context.Canceled in it.
type CallCancelledError struct {
	// The method that was called.
	Call string
	// context.Canceled.
	Cause error
}

// Error returns the method and the cause.
func (e *CallCancelledError) Error() string { return ended(e.Call, e.Cause) }

// Unwrap returns context.Canceled.
func (e *CallCancelledError) Unwrap() error { return e.Cause }

func (e *CallCancelledError) mintmark() {}

// callEnded returns the error of a call whose context has ended.
func callEnded(method string, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &CallTimeoutError{method, cause}
	}
	return &CallCancelledError{method, cause}
}

func ended(method string, cause error) string {
	return fmt.Sprintf("mintmark: %s ended early: %v. It was canceled, but may have taken effect.", method, cause)
}

// ClientClosedError is returned if the client or the CredentialsProvider was already closed.
type ClientClosedError struct {
	// The method that was called.
	Call string

	isProvider bool
}

// Error returns the method and the recommended action.
func (e *ClientClosedError) Error() string {
	if e.isProvider {
		return "mintmark: " + e.Call + " was called on a CredentialsProvider that is closed; create a new one."
	}
	return "mintmark: " + e.Call + " was called on a client that is closed; start a new one."
}

func (e *ClientClosedError) mintmark() {}
