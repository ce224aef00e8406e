package mintmark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
)

// member is a field of a struct that stands for an object of the contract.
type member struct {
	index              int
	name               string
	isOptional, secret bool
}

var members sync.Map // reflect.Type to []member

// membersOf lists the fields that stand for members; Unknown and embedded structs do not.
func membersOf(kind reflect.Type) []member {
	if found, ok := members.Load(kind); ok {
		return found.([]member)
	}
	var all []member
	for i := 0; i < kind.NumField(); i++ {
		field := kind.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			all = append(all, member{i, name, options == "omitempty", field.Tag.Get("mintmark") == "secret"})
		}
	}
	members.Store(kind, all)
	return all
}

func unknownOf(record reflect.Value) map[string]json.RawMessage {
	field := record.FieldByName("Unknown")
	if !field.IsValid() {
		return nil
	}
	unknown, _ := field.Interface().(map[string]json.RawMessage)
	return unknown
}

// marshalRecord writes a struct as an object. An optional member is left out where it is nil or zero; a list that is empty and not nil is
// written.
func marshalRecord(record any) ([]byte, error) {
	value := reflect.ValueOf(record)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	write := func(name string, content any) error {
		if text.Len() > 1 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(name); err != nil {
			return err
		}
		text.WriteByte(':')
		return encoder.Encode(content)
	}
	text.WriteByte('{')
	for _, member := range membersOf(value.Type()) {
		field := value.Field(member.index)
		if member.isOptional && field.IsZero() {
			continue
		}
		content := field.Interface()
		if field.Kind() == reflect.Slice && field.IsNil() {
			content = []struct{}{}
		} else if field.Kind() == reflect.Map && field.IsNil() {
			content = struct{}{}
		}
		if err := write(member.name, content); err != nil {
			return nil, err
		}
	}
	unknown := unknownOf(value)
	names := make([]string, 0, len(unknown))
	for name := range unknown {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := write(name, unknown[name]); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// unmarshalRecord fills the struct that record points to; members that it does not know go to Unknown. Numbers in objects of free form are
// json.Number, so that none loses a digit.
func unmarshalRecord(data []byte, record any) error {
	if string(data) == "null" {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	value := reflect.ValueOf(record).Elem()
	for _, member := range membersOf(value.Type()) {
		content, isThere := object[member.name]
		if !isThere {
			continue
		}
		delete(object, member.name)
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.UseNumber()
		if err := decoder.Decode(value.Field(member.index).Addr().Interface()); err != nil {
			return fmt.Errorf("%s: %w", member.name, err)
		}
	}
	if field := value.FieldByName("Unknown"); field.IsValid() && len(object) > 0 {
		field.Set(reflect.ValueOf(object))
	}
	return nil
}

// fillRecord fills what fits: the data of an error may be of another version.
func fillRecord(data []byte, record any) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return
	}
	value := reflect.ValueOf(record).Elem()
	for _, member := range membersOf(value.Type()) {
		if content, isThere := object[member.name]; isThere {
			_ = json.Unmarshal(content, value.Field(member.index).Addr().Interface())
		}
	}
}

// describe shows a struct without its secrets. A member that is not known may be one.
func describe(record any) string {
	value := reflect.ValueOf(record)
	var parts []string
	for _, member := range membersOf(value.Type()) {
		field := value.Field(member.index)
		if member.isOptional && field.IsZero() {
			continue
		}
		for field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		shown := fmt.Sprintf("%v", field.Interface())
		switch {
		case member.secret:
			shown = "[secret]"
		case field.Kind() == reflect.String:
			shown = fmt.Sprintf("%q", field.Interface())
		}
		parts = append(parts, value.Type().Field(member.index).Name+": "+shown)
	}
	for name := range unknownOf(value) {
		parts = append(parts, name+": [unknown]")
	}
	return value.Type().Name() + "{" + strings.Join(parts, ", ") + "}"
}
