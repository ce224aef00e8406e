package mintmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

const nowhere = "local-1:00000000-0000-0000-0000-000000000000"

var ctx = context.Background()

func shop(t *testing.T, m *mintmarktest.Mintmark) *mintmark.Pool {
	t.Helper()
	pool, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop", DeveloperProvider: "login.shop"})
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// standIn is a program that answers each request by a shell command line, which reads it from $line and has its id in $id.
func standIn(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stand-in")
	script := `#!/bin/bash
while IFS= read -r line; do
id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
if [ "$id" = 0 ]; then echo '{"jsonrpc":"2.0","id":0,"result":{"version":"999.0.0"}}'; continue; fi
` + body + "\ndone\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T, options mintmark.Options) *mintmark.Client {
	t.Helper()
	if options.Store == "" {
		options.Store = ":memory:"
	}
	options.Stderr = io.Discard
	m, err := mintmark.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestErrorsHaveTheirTypesForErrorsAs(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	_, err := m.Pool.Get(ctx, mintmark.PoolGetParams{PoolID: nowhere}, mintmark.WithTrace("order-17"))
	var missing *mintmark.PoolNotFoundError
	if !errors.As(err, &missing) || missing.PoolID != nowhere {
		t.Fatalf("found %#v", err)
	}
	var answered *mintmark.AnswerError
	if !errors.As(fmt.Errorf("wrapped: %w", err), &answered) || answered.Code != 2001 || answered.Type != "poolNotFound" || answered.Trace != "order-17" {
		t.Fatalf("found %#v", answered)
	}
	if !strings.Contains(err.Error(), "pool.get") {
		t.Errorf("it does not say which call: %v", err)
	}
	var invalid *mintmark.InvalidParamsError
	if _, err = m.Pool.Create(ctx, mintmark.PoolCreateParams{}); !errors.As(err, &invalid) || invalid.Violations[0].Pointer != "/name" {
		t.Fatalf("found %v", err)
	}
}

func TestAContextCancelsItsRequest(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{Binary: standIn(t, ":")})
	cancelled, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := m.Pool.List(cancelled, mintmark.PoolListParams{})
	var ended *mintmark.CallEndedError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &ended) || ended.Timeout() || ended.Call != "pool.list" {
		t.Fatalf("found %v", err)
	}
	_, err = m.Pool.List(ctx, mintmark.PoolListParams{}, mintmark.WithTimeout(50*time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ended) || !ended.Timeout() {
		t.Fatalf("found %v", err)
	}
	if _, err = m.System.Ping(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatalf("a context that has ended sends nothing: %v", err)
	}
}

func TestAThousandCallsFromAsManyGoroutines(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	pool := shop(t, m)
	var group sync.WaitGroup
	for i := 0; i < 1000; i++ {
		group.Add(1)
		go func(name string) {
			defer group.Done()
			role, err := m.Role.Put(ctx, mintmark.RolePutParams{Name: name, PoolID: pool.PoolID})
			if err != nil || !strings.HasSuffix(role.RoleARN, "/"+name) {
				t.Errorf("%s: %v, %v", name, role, err)
			}
		}(fmt.Sprintf("role-%d", i))
	}
	group.Wait()
}

func TestPagesAreReadOneAfterTheOther(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	for i := 0; i < 5; i++ {
		shop(t, m)
	}
	pages, found := m.Pool.ListPages(mintmark.PoolListParams{Limit: 2}), 0
	for pages.Next(ctx) {
		found += len(pages.Page().Pools)
	}
	if pages.Err() != nil || found != 5 {
		t.Fatalf("found %d, %v", found, pages.Err())
	}
	wrong := m.Pool.ListPages(mintmark.PoolListParams{Cursor: "wrong"})
	if wrong.Next(ctx) || wrong.Err() == nil {
		t.Fatal("a wrong cursor is told")
	}
}

func TestSecretsAreNotPrintedAndUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	pool := shop(t, m)
	minted, err := m.Token.MintForDeveloper(ctx, mintmark.TokenMintForDeveloperParams{PoolID: pool.PoolID, Logins: map[string]string{"login.shop": "alice"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(minted), fmt.Sprintf("%+v %#v", *minted, []any{*minted})} {
		if strings.Contains(text, minted.Token) || !strings.Contains(text, minted.IdentityID) {
			t.Errorf("printed: %s", text)
		}
	}
	const answer = `{"identityId":"i","poolId":"p","state":"petrified","logins":[],"createdAt":1,"updatedAt":2,"aura":{"rays":[1,null]}}`
	var identity mintmark.IdentityDescription
	if err := json.Unmarshal([]byte(answer), &identity); err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(identity)
	if err != nil || string(back) != answer || identity.State != "petrified" {
		t.Fatalf("it came out as %s, %v", back, err)
	}
}

func TestWhatHasNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	var usage *mintmark.UsageError
	deep := map[string]any{}
	for i, inner := 0, deep; i < 70; i++ {
		next := map[string]any{}
		inner["x"] = next
		inner = next
	}
	for _, value := range []any{func() {}, make(chan int), "\xff"} {
		_, err := m.Account.SetClaims(ctx, mintmark.AccountSetClaimsParams{AccountID: "a", Claims: map[string]any{"value": value}})
		if !errors.As(err, &usage) {
			t.Errorf("%T: found %v", value, err)
		}
	}
	var parse *mintmark.ParseError
	if _, err := m.Account.SetClaims(ctx, mintmark.AccountSetClaimsParams{AccountID: "a", Claims: deep}); !errors.As(err, &parse) {
		t.Errorf("found %v", err)
	}
	if err := m.Call(ctx, "system.ping", 5, nil); err == nil {
		t.Error("parameters are an object")
	}
	for _, text := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "<&>\u2028"} {
		_, err := m.Token.Verify(ctx, mintmark.TokenVerifyParams{Token: text, Audience: "a"})
		if errors.As(err, &usage) {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := 0; i < 5; i++ {
		m, err := mintmark.Testing(mintmark.Options{Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.System.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		m.Close()
		m.Close()
		var closed *mintmark.ClientClosedError
		if _, err := m.System.Ping(ctx); !errors.As(err, &closed) {
			t.Fatalf("found %v", err)
		}
	}
	for turn := 0; runtime.NumGoroutine() > before; turn++ {
		if turn > 500 {
			t.Fatalf("%d goroutines after %d", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestACallbackMayCall(t *testing.T) {
	t.Parallel()
	heard := make(chan error, 1)
	var m *mintmark.Client
	var ready sync.WaitGroup
	ready.Add(1)
	m = start(t, mintmark.Options{
		Binary: standIn(t, `echo '{"jsonrpc":"2.0","method":"moon/risen"}'; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"now\":1}}"`),
		OnNotification: func(n mintmark.Notification) {
			ready.Wait()
			_, err := m.System.Ping(ctx)
			select {
			case heard <- err:
			default:
			}
		},
	})
	ready.Done()
	if _, err := m.System.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-heard; err != nil {
		t.Fatal(err)
	}
}

func TestATestingMethodWithoutTestingSaysWhatToPass(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{})
	_, err := m.Test.Clock(ctx, mintmark.TestClockParams{})
	var missing *mintmark.MethodNotFoundError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "Testing: true") {
		t.Fatalf("found %v", err)
	}
}

func TestOptionsReachTheProcess(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{
		Testing: true, Region: "moon-1", Account: "123456789012", Issuer: "https://id.example", Clock: time.Unix(1_700_000_000, 0),
		Caller: "developer", MaxLineBytes: 3 << 20, Timeout: time.Minute, Arguments: []string{"--audit-issuance"},
	})
	info, err := m.System.Info(ctx)
	if err != nil || info.Region != "moon-1" || info.Account != "123456789012" || info.Issuer != "https://id.example" {
		t.Fatalf("found %v, %v", info, err)
	}
	_, err = m.Token.Verify(ctx, mintmark.TokenVerifyParams{Token: strings.Repeat("x", 2<<20), Audience: "a"})
	var answered *mintmark.AnswerError
	if !errors.As(err, &answered) || answered.Type == "invalidRequest" {
		t.Fatalf("a longer line is taken when both sides know: %v", err)
	}
}
