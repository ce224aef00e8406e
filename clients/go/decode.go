package mintmark

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
)

// decode fills a value as json.Unmarshal does, but for numbers in objects of free form: these are json.Number, so that none loses a digit.
func decode(text []byte, value any) error {
	if !isOfFreeForm(reflect.TypeOf(value)) {
		return json.Unmarshal(text, value)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(value)
}

var freeForms sync.Map // reflect.Type to bool

// isOfFreeForm reports whether a type has an interface in it, which takes any JSON.
func isOfFreeForm(kind reflect.Type) bool {
	if found, isThere := freeForms.Load(kind); isThere {
		return found.(bool)
	}
	// Until it is known, a type that contains itself is not.
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

// quickly reads an answer as Mintmark writes it, with nothing behind its result; nil is what encoding/json has to read.
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

// slowly reads whatever is JSON; what is not has no version.
func slowly(line []byte) *message {
	found := new(message)
	if json.Unmarshal(line, found) != nil {
		return new(message)
	}
	return found
}
