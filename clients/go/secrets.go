package mintmark

import (
	"fmt"
	"io"
)

const hidden = "[secret]"

// Secret is a string that is not printed: fmt, log and log/slog show "[secret]". string(secret) returns the text, and encoding/json writes it.
type Secret string

// String returns "[secret]".
func (Secret) String() string { return hidden }

// GoString returns "[secret]".
func (Secret) GoString() string { return hidden }

// Format writes "[secret]" for every verb.
func (Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hidden) }

// SecretMap is an object whose members are not printed.
type SecretMap map[string]any

// String returns "[secret]".
func (SecretMap) String() string { return hidden }

// GoString returns "[secret]".
func (SecretMap) GoString() string { return hidden }

// Format writes "[secret]" for every verb.
func (SecretMap) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hidden) }
