package mintmark

import (
	"encoding/json"
	"fmt"
	"io"
)

// UnknownVariant is a variant of a result that this client does not know, because the program is newer. It is printed without its members, which can
// be secrets.
type UnknownVariant struct {
	// JSON is the object as it was received.
	JSON json.RawMessage
}

// UnmarshalJSON stores a copy of the text.
func (v *UnknownVariant) UnmarshalJSON(text []byte) error {
	v.JSON = append(json.RawMessage(nil), text...)
	return nil
}

// MarshalJSON returns the object as it was received.
func (v UnknownVariant) MarshalJSON() ([]byte, error) { return v.JSON, nil }

// Format writes "[unknown variant]" for every verb.
func (v UnknownVariant) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, "[unknown variant]")
}

// discriminator reads the member that determines the variant. An object without it is an unknown variant.
func discriminator[T ~string](text []byte, name string) (T, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return "", err
	}
	var value T
	if found, isThere := members[name]; isThere {
		if err := json.Unmarshal(found, &value); err != nil {
			return "", err
		}
	}
	return value, nil
}
