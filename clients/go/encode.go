package mintmark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// field is a member of a struct that is written as a JSON object.
type field struct {
	index      int
	name       string
	isOptional bool
}

var fields sync.Map // reflect.Type to []field, nil for a type that encoding/json writes by itself

var marshaler = reflect.TypeOf((*json.Marshaler)(nil)).Elem()

// fieldsOf returns the members of a contract struct: a struct whose exported fields all have JSON names. It returns nil for other types.
func fieldsOf(kind reflect.Type) []field {
	if found, isThere := fields.Load(kind); isThere {
		return found.([]field)
	}
	var all []field
	for i := 0; i < kind.NumField(); i++ {
		each := kind.Field(i)
		name, options, _ := strings.Cut(each.Tag.Get("json"), ",")
		if name == "" || name == "-" || each.Anonymous || !each.IsExported() || (options != "" && options != "omitempty") {
			all = nil
			break
		}
		all = append(all, field{i, name, options == "omitempty"})
	}
	if kind.Implements(marshaler) || reflect.PointerTo(kind).Implements(marshaler) {
		all = nil
	}
	fields.Store(kind, all)
	return all
}

// encoder writes parameters as JSON. Unlike encoding/json, it writes an optional list or map that is empty but not nil, which clears the value in the
// store. It writes a required list or map that is nil as an empty one.
type encoder struct {
	text   bytes.Buffer
	others *json.Encoder
}

func (e *encoder) value(value reflect.Value) error {
	switch kind := value.Kind(); {
	case !value.IsValid():
		e.text.WriteString("null")
		return nil
	case value.Type().Implements(marshaler):
		return e.other(value)
	case kind == reflect.String:
		return e.string(value.String())
	case kind == reflect.Bool:
		e.text.WriteString(strconv.FormatBool(value.Bool()))
		return nil
	case kind == reflect.Int64:
		e.text.WriteString(strconv.FormatInt(value.Int(), 10))
		return nil
	case kind == reflect.Pointer && !value.IsNil():
		return e.value(value.Elem())
	case kind == reflect.Struct:
		if known := fieldsOf(value.Type()); known != nil || value.NumField() == 0 {
			return e.object(value, known)
		}
	case kind == reflect.Slice && !value.IsNil() && value.Type().Elem().Kind() != reflect.Uint8 && value.Type().Elem().Kind() != reflect.Interface:
		return e.list(value)
	case kind == reflect.Map && !value.IsNil() && value.Type().Key().Kind() == reflect.String && value.Type().Elem().Kind() != reflect.Interface:
		return e.mapping(value)
	}
	return e.other(value)
}

// other writes a value whose type is not part of the contract.
func (e *encoder) other(value reflect.Value) error {
	if e.others == nil {
		e.others = json.NewEncoder(&e.text)
		e.others.SetEscapeHTML(false)
	}
	if err := e.others.Encode(value.Interface()); err != nil {
		return err
	}
	// Encode appends a line break.
	e.text.Truncate(e.text.Len() - 1)
	return nil
}

func (e *encoder) string(text string) error {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			if !utf8.ValidString(text) {
				return fmt.Errorf("a string is not valid UTF-8")
			}
			return e.other(reflect.ValueOf(text))
		}
	}
	e.text.WriteByte('"')
	e.text.WriteString(text)
	e.text.WriteByte('"')
	return nil
}

func (e *encoder) object(value reflect.Value, known []field) error {
	e.text.WriteByte('{')
	start := e.text.Len()
	for _, each := range known {
		content := value.Field(each.index)
		if each.isOptional && content.IsZero() {
			continue
		}
		if e.text.Len() > start {
			e.text.WriteByte(',')
		}
		e.text.WriteByte('"')
		e.text.WriteString(each.name)
		e.text.WriteString(`":`)
		var err error
		switch {
		case content.Kind() == reflect.Slice && content.IsNil():
			e.text.WriteString("[]")
		case content.Kind() == reflect.Map && content.IsNil():
			e.text.WriteString("{}")
		default:
			err = e.value(content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	e.text.WriteByte('}')
	return nil
}

func (e *encoder) list(value reflect.Value) error {
	e.text.WriteByte('[')
	for i := 0; i < value.Len(); i++ {
		if i > 0 {
			e.text.WriteByte(',')
		}
		if err := e.value(value.Index(i)); err != nil {
			return err
		}
	}
	e.text.WriteByte(']')
	return nil
}

func (e *encoder) mapping(value reflect.Value) error {
	keys := value.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	e.text.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			e.text.WriteByte(',')
		}
		if err := e.string(key.String()); err != nil {
			return err
		}
		e.text.WriteByte(':')
		if err := e.value(value.MapIndex(key)); err != nil {
			return err
		}
	}
	e.text.WriteByte('}')
	return nil
}
