package mintmark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// message is a message from the process.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *wireError      `json:"error"`
	Trace   string          `json:"trace"`
}

// wireError is the error object of a response.
type wireError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *wireError) answer(method, trace string) *APIError {
	var kind struct {
		Type ErrorType `json:"type"`
	}
	if len(e.Data) > 0 {
		_ = json.Unmarshal(e.Data, &kind)
	}
	return &APIError{Code: e.Code, Type: kind.Type, Message: e.Message, Data: e.Data, Call: method, Trace: trace}
}

// requestBody encodes a request without its beginning, from the member after the ID onwards. It rejects requests that the process could not attribute
// to the call.
func requestBody(method string, params any, trace string, longest int) ([]byte, error) {
	e := &encoder{}
	e.text.WriteString(`,"method":`)
	err := e.string(method)
	if err == nil && params != nil {
		e.text.WriteString(`,"params":`)
		err = e.value(reflect.ValueOf(params))
	}
	if err == nil && trace != "" {
		e.text.WriteString(`,"trace":`)
		err = e.string(trace)
	}
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("the parameters of %s have no JSON: %v", method, err)}
	}
	e.text.WriteString("}\n")
	body := e.text.Bytes()
	switch {
	case len(body)+40 > longest:
		return nil, refused(method, -32600, ErrInvalidRequest, fmt.Sprintf("it is longer than %d bytes (MaxLineBytes)", longest))
	case depth(body) > 63:
		return nil, refused(method, -32700, ErrParse, "it nests deeper than 64 levels")
	case hasReplacement(body):
		return nil, &UsageError{fmt.Sprintf("the parameters of %s have a string that is not valid UTF-8", method)}
	}
	return body, nil
}

// refused returns the error that Mintmark would return for a line that it cannot parse.
func refused(method string, code int64, kind ErrorType, reason string) error {
	data, _ := json.Marshal(map[string]string{"type": string(kind), "reason": reason})
	return typed(&APIError{Code: code, Type: kind, Message: "This request cannot be sent: " + reason + ".", Data: data, Call: method})
}

// hasReplacement reports whether encoding/json has replaced invalid UTF-8 with an escaped U+FFFD. It writes a valid U+FFFD unescaped.
func hasReplacement(body []byte) bool {
	for {
		at := bytes.Index(body, []byte(`\ufffd`))
		if at < 0 {
			return false
		}
		backslashes := len(body[:at]) - len(bytes.TrimRight(body[:at], `\`))
		if backslashes%2 == 0 {
			return true
		}
		body = body[at+6:]
	}
}

// depth returns the nesting depth of arrays and objects in a JSON text without its first brace.
func depth(text []byte) int {
	level, deepest, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			inString = !inString
		case '{', '[':
			if !inString {
				level++
			}
		case '}', ']':
			if !inString {
				level--
			}
		}
		if level > deepest {
			deepest = level
		}
	}
	return deepest
}

var aVersion = regexp.MustCompile(`^\d+(\.\d+)*(-.*)?$`)

// isBelow reports whether a version such as 0.1.0 is below another. A text that is not a version is never below another.
func isBelow(version, other string) bool {
	if !aVersion.MatchString(version) {
		return false
	}
	left, right := numbers(version), numbers(other)
	for i := range right {
		if left[i] != right[i] {
			return left[i] < right[i]
		}
	}
	return false
}

func numbers(version string) (found [3]int) {
	version, _, _ = strings.Cut(version, "-")
	for i, part := range strings.Split(version, ".") {
		if i < len(found) {
			found[i], _ = strconv.Atoi(part)
		}
	}
	return found
}
