package mintmark

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
)

// decode works like json.Unmarshal, except that numbers in free-form objects become json.Number, which keeps all digits.
func decode(text []byte, value any) error {
	if !isOfFreeForm(reflect.TypeOf(value)) {
		return json.Unmarshal(text, value)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(value)
}

var freeForms sync.Map // reflect.Type to bool

// isOfFreeForm reports whether a type contains an interface, which accepts any JSON value.
func isOfFreeForm(kind reflect.Type) bool {
	if found, isThere := freeForms.Load(kind); isThere {
		return found.(bool)
	}
	// A recursive type counts as not free-form while it is being examined.
	isFree := hasInterface(kind, map[reflect.Type]bool{})
	freeForms.Store(kind, isFree)
	return isFree
}

func hasInterface(kind reflect.Type, seen map[reflect.Type]bool) bool {
	if kind == nil || seen[kind] {
		return false
	}
	seen[kind] = true
	switch kind.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hasInterface(kind.Elem(), seen)
	case reflect.Struct:
		for i := 0; i < kind.NumField(); i++ {
			if hasInterface(kind.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

const head = `{"jsonrpc":"2.0","id":`

// quickly parses a response in the exact form that Mintmark writes, with the result as the last member. It returns nil for any other line.
func quickly(line []byte) *message {
	if !bytes.HasPrefix(line, []byte(head)) {
		return nil
	}
	rest := line[len(head):]
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	id, rest := rest[:digits], rest[digits:]
	if digits == 0 || (digits > 1 && id[0] == '0') || !bytes.HasPrefix(rest, []byte(`,"result":`)) || !bytes.HasSuffix(rest, []byte("}\n")) {
		return nil
	}
	result := rest[len(`,"result":`) : len(rest)-2]
	if !json.Valid(result) {
		return nil
	}
	return &message{Version: "2.0", ID: id, Result: result}
}

// slowly parses any JSON object. A line that is not a JSON object yields a message without a version.
func slowly(line []byte) *message {
	found := new(message)
	if json.Unmarshal(line, found) != nil {
		return new(message)
	}
	return found
}
