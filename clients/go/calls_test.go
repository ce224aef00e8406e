package mintmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

func TestProgressArrivesBeforeTheResultOfItsCall(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	var accounts []mintmark.PortableAccount
	for i := 0; i < 450; i++ {
		accounts = append(accounts, mintmark.PortableAccount{Email: mintmark.Ptr(fmt.Sprintf("user%d@example.com", i))})
	}
	var told []mintmark.ImportProgress
	result, err := m.Account.ImportWithProgress(ctx, mintmark.AccountImportParams{Accounts: accounts}, func(progress mintmark.ImportProgress) {
		told = append(told, progress)
	})
	if err != nil || result.Imported != 450 {
		t.Fatal(result, err)
	}
	if len(told) < 2 || told[0].NextLine >= told[len(told)-1].NextLine || told[len(told)-1].Imported == 0 {
		t.Fatalf("it reported %v", told)
	}
	var raw []json.RawMessage
	err = m.CallWithProgress(ctx, "account.import", map[string]any{"accounts": accounts, "onExisting": "replace"}, nil, func(value json.RawMessage) {
		raw = append(raw, value)
	})
	if err != nil || len(raw) < 2 {
		t.Fatalf("it reported %s, %v", raw, err)
	}
}

func TestACallWithAnExpiredTimeLimitFails(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	for _, limit := range []time.Duration{0, -time.Hour} {
		if _, err := m.System.Ping(ctx, mintmark.WithTimeout(limit)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with the limit %v: %v", limit, err)
		}
	}
	if _, err := m.System.Ping(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAProgramThatExitsWithoutOutputFailsWithAdvice(t *testing.T) {
	t.Parallel()
	_, err := mintmark.Start(ctx, mintmark.Options{Store: ":memory:", Binary: "/bin/true"})
	var ended *mintmark.ProcessEndedError
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "right program? Set another path") || strings.Contains(err.Error(), "in memory") {
		t.Fatal(err)
	}
}

func TestNewCredentialsProviderWithoutFunctionPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "takes a function") {
			t.Fatal(text)
		}
	}()
	mintmark.NewCredentialsProvider(mintmarktest.New(t).Client, mintmark.CredentialsProviderOpenParams{}, nil)
}
