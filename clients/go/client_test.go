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

// standIn writes a program that handles each request with a shell command line, which reads the request from $line and its ID from $id.
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

func TestErrorsHaveTypesAndSentinels(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	_, err := m.Pool.Get(ctx, mintmark.PoolGetParams{PoolID: nowhere}, mintmark.WithTrace("order-17"))
	var missing *mintmark.PoolNotFoundError
	if !errors.As(err, &missing) || missing.PoolID != nowhere {
		t.Fatalf("found %#v", err)
	}
	if !errors.Is(err, mintmark.ErrPoolNotFound) || errors.Is(err, mintmark.ErrPoolExists) {
		t.Fatalf("the sentinel of %v is %q", err, missing.Type)
	}
	var any mintmark.MintmarkError
	if !errors.As(err, &any) {
		t.Fatalf("%T is no MintmarkError", err)
	}
	var answered *mintmark.APIError
	if !errors.As(fmt.Errorf("wrapped: %w", err), &answered) || answered.Code != 2001 || answered.Type != mintmark.ErrPoolNotFound || answered.Trace != "order-17" {
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
	var given *mintmark.CallCancelledError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &given) || given.Call != "pool.list" {
		t.Fatalf("found %v", err)
	}
	_, err = m.Pool.List(ctx, mintmark.PoolListParams{}, mintmark.WithTimeout(50*time.Millisecond))
	var late *mintmark.CallTimeoutError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &late) || !late.Timeout() || errors.As(err, &given) {
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

func TestPagesAreRequestedInOrder(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	for i := 0; i < 5; i++ {
		shop(t, m)
	}
	pages, found := m.Pool.ListPages(mintmark.PoolListParams{Limit: 2}), 0
	for pages.Next(ctx) {
		found += len(pages.Page().Pools)
		if len(pages.Items()) != len(pages.Page().Pools) {
			t.Errorf("a page has the items %v", pages.Items())
		}
	}
	if pages.Err() != nil || found != 5 {
		t.Fatalf("found %d, %v", found, pages.Err())
	}
	err := m.Pool.ListPages(mintmark.PoolListParams{Limit: 2}).Each(ctx, func(pool mintmark.PoolSummary) error {
		if found--; pool.PoolID == "" {
			t.Error("an item without an id")
		}
		return nil
	})
	if err != nil || found != 0 {
		t.Fatalf("%d items too few, %v", found, err)
	}
	wrong := m.Pool.ListPages(mintmark.PoolListParams{Cursor: "wrong"})
	if wrong.Next(ctx) || wrong.Err() == nil {
		t.Fatal("a wrong cursor is told")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	pool := shop(t, m)
	minted, err := m.Token.MintForDeveloper(
		ctx, mintmark.TokenMintForDeveloperParams{PoolID: pool.PoolID, Logins: map[string]mintmark.Secret{"login.shop": "alice"}})
	if err != nil {
		t.Fatal(err)
	}
	type own struct {
		Minted *mintmark.TokenMintForDeveloperResult
		Token  mintmark.Secret
		Map    mintmark.SecretMap
	}
	mine := own{minted, minted.Token, mintmark.SecretMap{"token": string(minted.Token)}}
	for _, text := range []string{
		fmt.Sprint(minted), fmt.Sprintf("%+v %#v %v", *minted, []any{*minted}, mine), fmt.Sprintf("%s %q %x %d %v", mine.Token, mine.Token, mine.Token, mine.Token, mine.Map),
		fmt.Sprint(map[string]mintmark.Secret{"a": minted.Token}, &mine.Token == nil, mine.Token.String(), mine.Map.GoString()),
	} {
		if strings.Contains(text, string(minted.Token)) || strings.Contains(text, fmt.Sprintf("%x", string(minted.Token))) || !strings.Contains(text, "[secret]") {
			t.Errorf("printed: %s", text)
		}
	}
	if written, err := json.Marshal(minted); err != nil || !strings.Contains(string(written), string(minted.Token)) {
		t.Errorf("it is written as %s, %v", written, err)
	}
}

func TestTheStateDeterminesTheTypeOfAStep(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{Testing: true})
	step, err := m.SignUp.Start(ctx, mintmark.SignUpStartParams{Username: "alice@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	required, isRequired := step.Variant.(*mintmark.SignUpStepCodeRequired)
	if !isRequired || required.SentTo != "a***@e***.com" || required.CodeLength != 8 || required.State != step.State {
		t.Fatalf("it is %T", step.Variant)
	}
	written, err := json.Marshal(step)
	if err != nil || !strings.Contains(string(written), `"state":"codeRequired"`) {
		t.Errorf("it is written as %s, %v", written, err)
	}
	if text := fmt.Sprintf("%v %+v", step, *required); strings.Contains(text, string(required.ContinuationToken)) || strings.Count(text, "a***@e***.com") != 2 {
		t.Errorf("printed: %s", text)
	}
	account, err := m.Account.Create(ctx, mintmark.AccountCreateParams{Username: mintmark.Ptr("bob@example.com")})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := m.Account.Graph(ctx, mintmark.AccountGraphParams{AccountID: account.AccountID})
	if err != nil {
		t.Fatal(err)
	}
	if node, isAccount := graph.Nodes[0].Variant.(*mintmark.GraphNodeAccount); !isAccount || node.AccountID != account.AccountID {
		t.Errorf("the first node is %T", graph.Nodes[0].Variant)
	}
}

func TestAnUnknownStateIsAnUnknownVariantWithItsJSON(t *testing.T) {
	t.Parallel()
	const answer = `{"state":"approvalRequired","approver":"bob","expiresAt":5}`
	m := start(t, mintmark.Options{Binary: standIn(t, `echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":`+strings.ReplaceAll(answer, `"`, `\"`)+`}"`)})
	step, err := m.SignUp.Start(ctx, mintmark.SignUpStartParams{Username: "alice@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	other, isOther := step.Variant.(*mintmark.UnknownVariant)
	if !isOther || step.State != "approvalRequired" || string(other.JSON) != answer {
		t.Fatalf("it is %T: %s", step.Variant, step.State)
	}
	if written, err := json.Marshal(step); err != nil || string(written) != answer {
		t.Errorf("it is written as %s, %v", written, err)
	}
	if text := fmt.Sprintf("%v %s %#v", other, other, *other); strings.Contains(text, "bob") {
		t.Errorf("printed: %s", text)
	}
}

func TestTheRawResultContainsUnknownMembers(t *testing.T) {
	t.Parallel()
	const answer = `{"identityId":"i","poolId":"p","state":"petrified","logins":[],"createdAt":1,"updatedAt":2,"aura":{"rays":[1,null]}}`
	m := start(t, mintmark.Options{Binary: standIn(t, `echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":`+strings.ReplaceAll(answer, `"`, `\"`)+`}"`)})
	var raw json.RawMessage
	identity, err := m.Identity.Get(ctx, mintmark.IdentityGetParams{IdentityID: "i"}, mintmark.WithRawResult(&raw))
	if err != nil || string(raw) != answer || identity.State != "petrified" {
		t.Fatalf("it came out as %s, %v", raw, err)
	}
	if !identity.CreatedAt.Time().Equal(time.Unix(1, 0)) || identity.CreatedAt.String() != "1970-01-01T00:00:01Z" {
		t.Errorf("it was created at %v", identity.CreatedAt)
	}
}

func TestNumbersInFreeFormObjectsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{Binary: standIn(t, `echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"claims\":{\"n\":9007199254740993}}}"`)})
	account, err := m.Account.Get(ctx, mintmark.AccountGetParams{AccountID: "a"})
	if err != nil || account.Claims["n"] != json.Number("9007199254740993") {
		t.Fatalf("found %v, %v", account, err)
	}
}

func TestAnEmptyListIsSentAndANilOneIsNot(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	tags := map[string]string{"env": "test"}
	pool, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop", Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := m.Tenant.Create(ctx, mintmark.TenantCreateParams{TenantID: "shop", Audiences: []string{"https://api.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, audiences := range [][]string{nil, {}} {
		tenant, err = m.Tenant.Update(ctx, mintmark.TenantUpdateParams{TenantID: "shop", Audiences: audiences})
		if err != nil || (len(tenant.Audiences) == 0) != (audiences != nil) {
			t.Fatalf("with %#v: %v, %v", audiences, tenant.Audiences, err)
		}
	}
	if _, err = m.Pool.Tag(ctx, mintmark.PoolTagParams{PoolID: pool.PoolID}); err != nil && strings.Contains(err.Error(), "null") {
		t.Errorf("a required map that is nil was sent as null: %v", err)
	}
}

func TestValuesWithoutAJSONFormAreRejected(t *testing.T) {
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
		_, err := m.Token.Verify(ctx, mintmark.TokenVerifyParams{Token: mintmark.Secret(text), Audience: "a"})
		if errors.As(err, &usage) {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
}

func TestCloseLeavesNoGoroutinesRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := 0; i < 5; i++ {
		m, err := mintmark.Testing(ctx, mintmark.Options{Stderr: io.Discard})
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

func TestANotificationCallbackCanMakeCalls(t *testing.T) {
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

func TestATestingMethodWithoutATestingStoreFailsWithAdvice(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{})
	_, err := mintmarktest.Methods(m).Clock(ctx, mintmarktest.TestClockParams{})
	var missing *mintmark.MethodNotFoundError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "Testing: true") {
		t.Fatalf("found %v", err)
	}
}

func TestOptionsReachTheProcess(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{
		Testing: true, Region: "moon-1", Account: "123456789012", Issuer: "https://id.example", Clock: time.Unix(1_700_000_000, 0),
		Caller: "developer", MaxLineBytes: 3 << 20, Timeout: time.Minute, AuditIssuance: true, DrainSeconds: 1,
	})
	info, err := m.System.Info(ctx)
	if err != nil || info.Region != "moon-1" || info.Account != "123456789012" || info.Issuer != "https://id.example" {
		t.Fatalf("found %v, %v", info, err)
	}
	_, err = m.Token.Verify(ctx, mintmark.TokenVerifyParams{Token: mintmark.Secret(strings.Repeat("x", 2<<20)), Audience: "a"})
	var answered *mintmark.APIError
	if !errors.As(err, &answered) || answered.Type == mintmark.ErrInvalidRequest {
		t.Fatalf("a longer line is taken when both sides know: %v", err)
	}
}
