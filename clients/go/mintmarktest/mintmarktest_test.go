package mintmarktest_test

import (
	"context"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

func TestEachTestHasItsOwnStoreAndClock(t *testing.T) {
	t.Parallel()
	first, second := mintmarktest.New(t), mintmarktest.New(t)
	ctx := context.Background()
	if _, err := first.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	pools, err := second.Pool.List(ctx, mintmark.PoolListParams{})
	if err != nil || len(pools.Pools) != 0 {
		t.Fatalf("the second store has %v, %v", pools, err)
	}
	start := time.Unix(1_700_000_000, 0)
	first.Freeze(start)
	first.Advance(90 * time.Minute)
	if now := first.Now(); !now.Equal(start.Add(90 * time.Minute)) {
		t.Fatalf("the clock shows %v", now)
	}
}

func TestTheClockCanBeSetAndResumed(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	at := time.Unix(1_900_000_000, 0)
	m.Freeze(at)
	m.Set(at.Add(time.Hour))
	if now := m.Now(); !now.Equal(at.Add(time.Hour)) {
		t.Fatalf("the clock shows %v", now)
	}
	m.Run()
	if now := m.Now(); now.Before(at.Add(time.Hour)) {
		t.Fatalf("the clock shows %v", now)
	}
}

func TestTheEndOfATestDoesNotWaitForRunningCalls(t *testing.T) {
	t.Parallel()
	done := make(chan error, 1)
	hasStarted := t.Run("a test", func(t *testing.T) {
		m := mintmarktest.New(t)
		go func() {
			_, err := m.Test.Outbox(context.Background(), mintmarktest.TestOutboxParams{WaitSeconds: mintmark.Ptr(int64(60))})
			done <- err
		}()
		m.Now()
	})
	if !hasStarted {
		return
	}
	if err := <-done; err == nil {
		t.Fatalf("it was waited for: %v", err)
	}
}

func TestTheOutboxContainsTheEmailedCode(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	step, err := m.SignUp.Start(context.Background(), mintmark.SignUpStartParams{Username: "alice@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	mails := m.Outbox("alice@example.com")
	if len(mails) != 1 || len(m.Outbox("bob@example.com")) != 0 {
		t.Fatalf("the outbox has %v", mails)
	}
	if string(mails[0].Code) != m.Code("alice@example.com") || mails[0].Code == "" || step.State != mintmark.SignUpStepStateCodeRequired {
		t.Fatalf("the mail is %v", mails[0])
	}
}
