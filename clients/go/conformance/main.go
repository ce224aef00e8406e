// Command conformance is the conformance driver of the Go client, described in clients/conformance/README.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"

	"mintmark.localhost/mintmark"
)

// A decoded step; each kind of step uses some of the members.
type step struct {
	Do, Client, Call, Then, Method, Provider, Backend, Value string

	Store, App, Binary           string
	Testing, Refresh             bool
	Restart                      *bool
	Arguments                    []string
	TimeoutSeconds, GraceSeconds float64
	Trace                        string
	Params                       json.RawMessage
	Calls, AtOnce                int
	Hooks                        map[string]string
	Logins                       map[string]mintmark.Secret
}

func main() {
	d := newDriver()
	lines := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			_ = output.Encode(map[string]string{"fault": err.Error()})
			continue
		}
		_ = output.Encode(d.carryOut(&s))
	}
}

// answer is the outcome of a step.
type answer map[string]any

func told(result any, err error) answer {
	if err != nil {
		return answer{"error": described(err)}
	}
	return answer{"result": result}
}

var (
	errBackend   = errors.New("the backend is down")
	errDirectory = errors.New("the directory is down")
)

// described converts an error to the form that the conformance runner reads.
func described(err error) answer {
	found := answer{"kind": kind(err), "message": err.Error(), "class": strings.TrimSuffix(reflect.Indirect(reflect.ValueOf(err)).Type().Name(), "Error")}
	var answered *mintmark.APIError
	if errors.As(err, &answered) {
		found["code"], found["type"], found["data"], found["trace"] = answered.Code, answered.Type, answered.Data, answered.Trace
		found["message"] = answered.Message
	}
	var old *mintmark.BinaryTooOldError
	if errors.As(err, &old) {
		found["message"] = err.Error()
	}
	return found
}

func kind(err error) string {
	var (
		old      *mintmark.BinaryTooOldError
		answered *mintmark.APIError
		missing  *mintmark.BinaryNotFoundError
		garbage  *mintmark.ProtocolError
		ended    *mintmark.ProcessEndedError
		closed   *mintmark.ClientClosedError
		usage    *mintmark.UsageError
		late     *mintmark.CallTimeoutError
		given    *mintmark.CallCancelledError
	)
	switch {
	case errors.As(err, &old):
		return "tooOld"
	case errors.As(err, &answered):
		return "answered"
	case errors.As(err, &missing):
		return "notFound"
	case errors.As(err, &garbage):
		return "garbage"
	case errors.As(err, &ended):
		return "ended"
	case errors.As(err, &closed):
		return "closed"
	case errors.As(err, &usage):
		return "refused"
	case errors.As(err, &late):
		return "timedOut"
	case errors.As(err, &given):
		return "cancelled"
	case errors.Is(err, errBackend):
		return "own"
	}
	return "unknown"
}
