//go:build !windows

package mintmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
)

// within fails the test if body does not return within a minute.
func within(t *testing.T, what string, body func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		body()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what + " hangs")
	}
}

func TestShutdownKillsTheChildrenOfAScript(t *testing.T) {
	t.Parallel()
	sleeps := make(chan struct{}, 1)
	m := start(t, mintmark.Options{
		Binary:         standIn(t, `echo '{"jsonrpc":"2.0","method":"moon/risen"}'; sleep 180; :`),
		OnNotification: func(mintmark.Notification) { sleeps <- struct{}{} },
	})
	go m.System.Ping(ctx)
	<-sleeps
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	within(t, "Shutdown", func() { m.Shutdown(soon) })
}

func TestAResultOfAnUnexpectedTypeFailsWithAdvice(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{Binary: standIn(t, `echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"now\":\"soon\"}}"`)})
	_, err := m.System.Ping(ctx)
	var wrong *mintmark.ProtocolError
	var cause *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Call != "system.ping" || !errors.As(err, &cause) || !strings.Contains(err.Error(), "--version") {
		t.Fatalf("found %v", err)
	}
	var raw json.RawMessage
	if err := m.Call(ctx, "system.ping", nil, &raw); err != nil || string(raw) != `{"now":"soon"}` {
		t.Fatalf("found %s, %v", raw, err)
	}
}
