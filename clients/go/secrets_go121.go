//go:build go1.21

package mintmark

import "log/slog"

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// LogValue returns "[secret]".
func (SecretMap) LogValue() slog.Value { return slog.StringValue(hidden) }
