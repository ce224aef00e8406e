package mintmark

import (
	"context"
	"errors"
	"fmt"
)

// CredentialsProvider provides valid temporary credentials of one user and renews them when necessary. If the application's backend must issue a
// token, OnTokenRequired is called once for all waiting calls. It is safe for concurrent use by multiple goroutines.
type CredentialsProvider struct {
	client          *Client
	onTokenRequired OnTokenRequired
	opening         chan struct{}
	params          CredentialsProviderOpenParams
	handle          string
	isClosed        bool
	asking          chan struct{}
}

// TokenRequired is the request for a token of the application's backend.
type TokenRequired struct {
	// Logins are the logins of the user.
	Logins map[string]Secret

	// IdentityID is the current identity ID, which the backend passes to token.mintForDeveloper; empty if there is none.
	IdentityID string

	// Reason is the reason a token is required.
	Reason string
}

// OnTokenRequired returns the identity ID and the token that the application's backend obtained from token.mintForDeveloper. If it returns an error,
// the call returns the same error.
type OnTokenRequired func(ctx context.Context, required TokenRequired) (identityID string, token Secret, err error)

// NewCredentialsProvider creates a provider. The first call opens it. If the process has ended, the next call opens the provider again with the same
// identity. TokenSource is always the caller. It panics if onTokenRequired is nil.
func NewCredentialsProvider(client *Client, params CredentialsProviderOpenParams, onTokenRequired OnTokenRequired) *CredentialsProvider {
	if onTokenRequired == nil {
		panic("mintmark: NewCredentialsProvider takes a function that gives tokens")
	}
	params.TokenSource = TokenSourceCaller
	return &CredentialsProvider{
		client: client, params: params, onTokenRequired: onTokenRequired, opening: make(chan struct{}, 1), asking: make(chan struct{}, 1),
	}
}

// Get returns valid credentials, with IdentityID and RoleARN.
func (p *CredentialsProvider) Get(ctx context.Context) (*CredentialsProviderAnswerReady, error) {
	return p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		return p.client.CredentialsProvider.Get(ctx, CredentialsProviderGetParams{Provider: handle})
	})
}

// Refresh renews the credentials even if they are still valid.
func (p *CredentialsProvider) Refresh(ctx context.Context) (*CredentialsProviderAnswerReady, error) {
	isFirst := true
	return p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		refresh := isFirst
		isFirst = false
		return p.client.CredentialsProvider.Get(ctx, CredentialsProviderGetParams{Provider: handle, Refresh: refresh})
	})
}

// IdentityID returns the ID of the identity.
func (p *CredentialsProvider) IdentityID(ctx context.Context) (string, error) {
	answer, err := p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		return p.client.CredentialsProvider.IdentityID(ctx, CredentialsProviderIdentityIDParams{Provider: handle})
	})
	if err != nil {
		return "", err
	}
	return answer.IdentityID, nil
}

// SetLogins replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity.
func (p *CredentialsProvider) SetLogins(ctx context.Context, logins map[string]Secret) error {
	if err := p.remember(ctx, "credentialsProvider.setLogins", logins); err != nil {
		return err
	}
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.SetLogins(ctx, CredentialsProviderSetLoginsParams{Provider: handle, Logins: logins})
		return err
	})
}

// ClearCredentials discards the credentials and keeps the identity.
func (p *CredentialsProvider) ClearCredentials(ctx context.Context) error {
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.ClearCredentials(ctx, CredentialsProviderClearCredentialsParams{Provider: handle})
		return err
	})
}

// ClearKeychain discards the credentials, the identity and the logins. Call it when the user signs out or another user signs in.
func (p *CredentialsProvider) ClearKeychain(ctx context.Context) error {
	if err := p.remember(ctx, "credentialsProvider.clearKeychain", nil); err != nil {
		return err
	}
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.ClearKeychain(ctx, CredentialsProviderClearKeychainParams{Provider: handle})
		return err
	})
}

// Close closes the provider. The store keeps the identity ID under the provider's key.
func (p *CredentialsProvider) Close(ctx context.Context) error {
	if err := take(ctx, p.opening, "credentialsProvider.close"); err != nil {
		return err
	}
	handle, wasClosed := p.handle, p.isClosed
	p.isClosed = true
	<-p.opening
	if handle == "" || wasClosed {
		return nil
	}
	_, err := p.client.CredentialsProvider.Close(ctx, CredentialsProviderCloseParams{Provider: handle})
	if errors.Is(err, ErrProviderNotOpen) {
		// The process was restarted and no longer has the provider.
		return nil
	}
	return err
}

func (p *CredentialsProvider) remember(ctx context.Context, method string, logins map[string]Secret) error {
	if err := take(ctx, p.opening, method); err != nil {
		return err
	}
	defer func() { <-p.opening }()
	p.params.Logins = logins
	return nil
}

// take acquires a lock, or fails if the context ends first. Receiving from place releases the lock.
func take(ctx context.Context, place chan struct{}, method string) error {
	select {
	case place <- struct{}{}:
		return nil
	default:
	}
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return callEnded(method, ctx.Err())
	}
}

func (p *CredentialsProvider) ready(
	ctx context.Context, read func(handle string) (*CredentialsProviderAnswer, error),
) (*CredentialsProviderAnswerReady, error) {
	var answer *CredentialsProviderAnswer
	again := func(handle string) (err error) {
		answer, err = read(handle)
		return err
	}
	if err := p.do(ctx, again); err != nil {
		return nil, err
	}
	if answer.State != CredentialsProviderAnswerStateTokenRequired {
		return p.available(answer)
	}
	if err := take(ctx, p.asking, "credentialsProvider.get"); err != nil {
		return nil, err
	}
	defer func() { <-p.asking }()
	// Another call may have submitted a token while this one waited for the lock.
	if err := p.do(ctx, again); err != nil {
		return nil, err
	}
	required, isRequired := answer.Variant.(*CredentialsProviderAnswerTokenRequired)
	if !isRequired {
		return p.available(answer)
	}
	identityID, token, err := p.onTokenRequired(ctx, TokenRequired{required.Logins, required.IdentityID, string(required.Reason)})
	if err != nil {
		return nil, err
	}
	answer, err = p.client.CredentialsProvider.SubmitToken(ctx, CredentialsProviderSubmitTokenParams{
		ContinuationToken: required.ContinuationToken, IdentityID: identityID, Token: token,
	})
	if err != nil {
		return nil, err
	}
	return p.available(answer)
}

// available returns a result that needs no other token.
func (p *CredentialsProvider) available(answer *CredentialsProviderAnswer) (*CredentialsProviderAnswerReady, error) {
	if ready, isReady := answer.Variant.(*CredentialsProviderAnswerReady); isReady {
		return ready, nil
	}
	reason := fmt.Sprintf("the state is %q, which this client does not support", answer.State)
	return nil, &ProtocolError{Binary: p.client.options.binary(), Call: "credentialsProvider.get", Reason: reason}
}

// do calls with the provider's handle. If a restarted process does not have the handle, it opens the provider again and retries once.
func (p *CredentialsProvider) do(ctx context.Context, call func(handle string) error) error {
	handle, err := p.open(ctx, "")
	if err != nil {
		return err
	}
	err = call(handle)
	if !errors.Is(err, ErrProviderNotOpen) {
		return err
	}
	if handle, err = p.open(ctx, handle); err != nil {
		return err
	}
	return call(handle)
}

func (p *CredentialsProvider) open(ctx context.Context, insteadOf string) (string, error) {
	if err := take(ctx, p.opening, "credentialsProvider.open"); err != nil {
		return "", err
	}
	defer func() { <-p.opening }()
	if p.isClosed && p.handle == "" {
		return "", &ClientClosedError{Call: "credentialsProvider.open", isProvider: true}
	}
	if p.handle != insteadOf || p.isClosed && p.handle != "" {
		return p.handle, nil
	}
	opened, err := p.client.CredentialsProvider.Open(ctx, p.params)
	if err != nil {
		return "", err
	}
	p.handle = opened.Provider
	return p.handle, nil
}
