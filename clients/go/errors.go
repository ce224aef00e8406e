package mintmark

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// AnswerError is what every error that Mintmark answers has: errors.As finds it in all of them. A type that this client does not know yet is an
// AnswerError itself.
type AnswerError struct {
	// Code is the number of the error; each belongs to one Type for good.
	Code int64

	// Type is the stable name of the error.
	Type string

	// Message is for people, and says what to do next.
	Message string

	// Data is what the answer says beside it.
	Data json.RawMessage

	// Call is the method that was called.
	Call string

	// Trace is the call's.
	Trace string
}

// Error says which call was refused and why.
func (e *AnswerError) Error() string { return "mintmark: " + e.Call + ": " + e.Message }

// RetryAfter is after how long the same call may succeed; 0 for an error that does not go away by itself.
func (e *AnswerError) RetryAfter() time.Duration {
	var data struct {
		RetryAfterSeconds int64 `json:"retryAfterSeconds"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return 0
	}
	return time.Duration(data.RetryAfterSeconds) * time.Second
}

// UsageError is about what the program gave: options, or parameters that have no JSON.
type UsageError struct{ Reason string }

// Error says what to give instead.
func (e *UsageError) Error() string { return "mintmark: " + e.Reason }

// BinaryNotFoundError says that the program is not where it was looked for, or cannot be run.
type BinaryNotFoundError struct {
	// Binary is where it was looked for.
	Binary string

	// Cause is what the system says.
	Cause error
}

const howToGetIt = "Build it in Mintmark's repository (clients/shell/mintmark --version makes .build/mintmark) and name it: Options{Binary: …}, " +
	"export MINTMARK_BINARY=$PWD/.build/mintmark, or put it on PATH."

// Error says where it was looked for and what to do.
func (e *BinaryNotFoundError) Error() string {
	where := "named " + e.Binary + " on PATH"
	if strings.Contains(e.Binary, "/") {
		where = "at " + e.Binary
	}
	return fmt.Sprintf("mintmark: there is no program %s that can be run: %v. %s", where, e.Cause, howToGetIt)
}

// Unwrap gives what the system says.
func (e *BinaryNotFoundError) Unwrap() error { return e.Cause }

// BinaryTooOldError says that the program is older than this client, or lacks one of its methods.
type BinaryTooOldError struct {
	// Binary is the program.
	Binary string

	// Version is what it says of itself; empty where it was not asked.
	Version string

	// Call is the method that it lacks; empty where its version is too low.
	Call string

	// Answer is its answer, where it lacks a method.
	Answer *AnswerError
}

// Error says what to do.
func (e *BinaryTooOldError) Error() string {
	what := "is Mintmark " + e.Version
	if e.Call != "" {
		what = "has no method " + e.Call
	}
	return fmt.Sprintf("mintmark: %s %s: it is older than this client, which was made for Mintmark %s. Build or install the newer one; "+
		"mintmark --version says what it is, MINTMARK_BINARY or Options{Binary: …} names another.", e.Binary, what, ContractVersion)
}

// Unwrap gives the answer, where there was one.
func (e *BinaryTooOldError) Unwrap() error {
	if e.Answer == nil {
		return nil
	}
	return e.Answer
}

// ProcessEndedError says that the process ended before it answered. Whether what was asked for has been done is not known.
type ProcessEndedError struct {
	// Binary is the program.
	Binary string

	// ExitCode is its status, -1 where a signal ended it.
	ExitCode int

	// Status says how it ended, in words.
	Status string

	// Stderr has the last lines that it wrote to standard error.
	Stderr []string

	// Call is the method that was waiting.
	Call string

	advice     string
	isStranger bool
}

// Error says how it ended, its last words, and what comes next.
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

// ProtocolError says that what came out of the pipe is not what Mintmark writes; the process was ended. Or that the answer to one call is not
// what this client takes; the process goes on.
type ProtocolError struct {
	// Binary is the program.
	Binary string

	// Call is the method whose answer it is; empty where the process was ended.
	Call string

	// Reason says what was wrong.
	Reason string

	// Cause is what encoding/json says of the answer to one call.
	Cause error
}

// Error asks whether it is the right program.
func (e *ProtocolError) Error() string {
	if e.Call != "" {
		return fmt.Sprintf("mintmark: the answer of %s is not what this client takes: %s. Is the program newer than this client? %s --version says; "+
			"m.Call with a json.RawMessage gives the answer as it is.", e.Call, e.Reason, e.Binary)
	}
	return fmt.Sprintf("mintmark: %s does not answer as Mintmark does: %s. Is it the right program? MINTMARK_BINARY or Options{Binary: …} names another.", e.Binary, e.Reason)
}

// Unwrap gives what encoding/json says, where there is such.
func (e *ProtocolError) Unwrap() error { return e.Cause }

// CallEndedError says that a call's context or time limit ended before its answer came: errors.Is finds context.Canceled or
// context.DeadlineExceeded in it. The request was cancelled; it may have taken effect nevertheless.
type CallEndedError struct {
	// Call is the method.
	Call string

	// Cause is context.Canceled or context.DeadlineExceeded.
	Cause error
}

// Error says which call it was.
func (e *CallEndedError) Error() string {
	return fmt.Sprintf("mintmark: %s was given up: %v. It was cancelled; it may have taken effect nevertheless.", e.Call, e.Cause)
}

// Timeout says whether time was up, as of a net.Error.
func (e *CallEndedError) Timeout() bool { return e.Cause == context.DeadlineExceeded }

// Unwrap gives context.Canceled or context.DeadlineExceeded.
func (e *CallEndedError) Unwrap() error { return e.Cause }

// ClientClosedError says that Close was called before, on the client or on a CredentialsProvider.
type ClientClosedError struct {
	// Call is the method.
	Call string

	isProvider bool
}

// Error says what to do.
func (e *ClientClosedError) Error() string {
	if e.isProvider {
		return "mintmark: " + e.Call + " was called on a CredentialsProvider that is closed; make a new one."
	}
	return "mintmark: " + e.Call + " was called on a client that is closed; start a new one."
}
