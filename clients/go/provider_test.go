package mintmark_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

func noTokens(context.Context, mintmark.TokenRequired) (string, mintmark.Secret, error) {
	return "", "", errors.New("the backend is down")
}

func TestAProviderClosedBeforeItsFirstUseDoesNotOpen(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	provider := mintmark.NewCredentialsProvider(m.Client, mintmark.CredentialsProviderOpenParams{PoolID: shop(t, m).PoolID}, noTokens)
	if err := provider.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var closed *mintmark.ClientClosedError
	if _, err := provider.Get(ctx); !errors.As(err, &closed) || !strings.Contains(err.Error(), "CredentialsProvider that is closed") {
		t.Fatalf("found %v", err)
	}
}

func TestClosingAProviderThatItsProcessDoesNotHaveSucceeds(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{Binary: standIn(t, `case $line in
*credentialsProvider.close*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":3030,\"message\":\"x\",\"data\":{\"type\":\"providerNotOpen\",\"provider\":\"p\"}}}" ;;
*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"provider\":\"p\"}}" ;;
esac`)})
	provider := mintmark.NewCredentialsProvider(m, mintmark.CredentialsProviderOpenParams{PoolID: "p"}, noTokens)
	if err := provider.ClearCredentials(ctx); err != nil {
		t.Fatal(err)
	}
	if err := provider.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAContextEndsAWaitForAnotherCallThatOpensTheProvider(t *testing.T) {
	t.Parallel()
	opening := make(chan struct{}, 1)
	m := start(t, mintmark.Options{
		Binary:         standIn(t, `case $line in *credentialsProvider.open*) echo '{"jsonrpc":"2.0","method":"door/opening"}' ;; esac`),
		OnNotification: func(mintmark.Notification) { opening <- struct{}{} },
	})
	provider := mintmark.NewCredentialsProvider(m, mintmark.CredentialsProviderOpenParams{PoolID: "p"}, noTokens)
	patient, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = provider.Get(patient)
	}()
	<-opening
	defer func() {
		cancel()
		<-gone
	}()
	calls := map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error { _, err := provider.Get(ctx); return err },
		"SetLogins": func(ctx context.Context) error {
			return provider.SetLogins(ctx, map[string]mintmark.Secret{"login.shop": "alice"})
		},
		"ClearKeychain": provider.ClearKeychain,
		"Close":         provider.Close,
	}
	for name, call := range calls {
		soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		found := make(chan error, 1)
		go func() { found <- call(soon) }()
		select {
		case err := <-found:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: found %v", name, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s does not end with its context", name)
		}
		cancel()
	}
}
