// Package mintmarktest starts a Mintmark process for a test: a new testing store in memory with a virtual clock, which is discarded at the end of the
// test. It also provides the methods test.*, which only testing stores offer.
//
//	func TestSignUp(t *testing.T) {
//		m := mintmarktest.New(t)
//		…
//		m.Advance(time.Hour)
//	}
package mintmarktest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
)

// Mintmark is a client with a separate process for one test.
type Mintmark struct {
	*mintmark.Client
	// Test has the methods test.*.
	Test TestMethods

	t testing.TB
}

// New starts a process for a test and stops it at the end of the test. If the test fails, its output includes the log of the process.
func New(t testing.TB, options ...mintmark.Options) *Mintmark {
	t.Helper()
	var given mintmark.Options
	if len(options) > 0 {
		given = options[0]
	}
	log := &testLog{}
	if given.Stderr == nil {
		given.Stderr = log
	}
	client, err := mintmark.Testing(context.Background(), given)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The store is discarded, so requests that are still running, such as a wait for an email, are not awaited.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		client.Shutdown(ctx)
		if words := log.String(); t.Failed() && words != "" {
			t.Log("Mintmark's log:\n" + words)
		}
	})
	return &Mintmark{client, Methods(client), t}
}

// Now returns the current time of the virtual clock.
func (m *Mintmark) Now() time.Time {
	m.t.Helper()
	return m.turn(TestClockParams{})
}

// Freeze sets the virtual clock to a time and stops it.
func (m *Mintmark) Freeze(at time.Time) {
	m.t.Helper()
	m.turn(TestClockParams{Freeze: mintmark.Ptr(true), SetAt: mintmark.Ptr(mintmark.TimestampOf(at))})
}

// Run lets the virtual clock run again.
func (m *Mintmark) Run() {
	m.t.Helper()
	m.turn(TestClockParams{Freeze: mintmark.Ptr(false)})
}

// Set sets the virtual clock.
func (m *Mintmark) Set(at time.Time) {
	m.t.Helper()
	m.turn(TestClockParams{SetAt: mintmark.Ptr(mintmark.TimestampOf(at))})
}

// Advance moves the virtual clock forward, in whole seconds.
func (m *Mintmark) Advance(by time.Duration) {
	m.t.Helper()
	m.turn(TestClockParams{AdvanceSeconds: mintmark.Ptr(int64(by / time.Second))})
}

func (m *Mintmark) turn(params TestClockParams) time.Time {
	m.t.Helper()
	clock, err := m.Test.Clock(context.Background(), params)
	if err != nil {
		m.t.Fatal(err)
	}
	return clock.Now.Time()
}

// Outbox returns the messages that were sent, or only those to the given address.
func (m *Mintmark) Outbox(to ...string) []SentMessage {
	m.t.Helper()
	var params TestOutboxParams
	if len(to) > 0 {
		params.To = to[0]
	}
	outbox, err := m.Test.Outbox(context.Background(), params)
	if err != nil {
		m.t.Fatal(err)
	}
	return outbox.Messages
}

// Code returns the one-time code of the last message to an address or phone number that contains a code. The test fails if there is none.
func (m *Mintmark) Code(to string) string {
	m.t.Helper()
	messages := m.Outbox(to)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Code != "" {
			return string(messages[i].Code)
		}
	}
	var others []string
	known := map[string]bool{}
	for _, message := range m.Outbox() {
		if !known[message.To] {
			known[message.To] = true
			others = append(others, message.To)
		}
	}
	if len(others) == 0 {
		m.t.Fatalf("no code was sent to %s; no messages were sent", to)
	}
	m.t.Fatalf("no code was sent to %s; messages were sent to %s", to, strings.Join(others, ", "))
	return ""
}

// testLog collects the log of a process.
type testLog struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *testLog) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

func (l *testLog) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}
