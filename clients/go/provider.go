package mintmark

import (
	"context"
	"errors"
)

// CredentialsProvider keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed,
// OnTokenRequired is asked for it, once for all calls that wait. Any number of goroutines may share one.
type CredentialsProvider struct {
	client          *Client
	onTokenRequired OnTokenRequired
	opening         chan struct{}
	params          CredentialsProviderOpenParams
	handle          string
	isClosed        bool
	asking          chan struct{}
}

// TokenRequired says for whom a token is needed.
type TokenRequired struct {
	// Logins say who the user is.
	Logins map[string]Secret

	// IdentityID is the identity that is kept so far, for the backend to name in token.mintForDeveloper; empty for none.
	IdentityID string

	// Reason says why it is needed.
	Reason string
}

// OnTokenRequired gives what the application's backend got from token.mintForDeveloper: the identity's id, and the token. Its error is the
// call's.
type OnTokenRequired func(ctx context.Context, required TokenRequired) (identityID string, token Secret, err error)

// NewCredentialsProvider makes a provider. The first call opens it; after the process has died, the next one opens it again, with the same
// identity. TokenSource is the caller in any case. Without a function it panics.
func NewCredentialsProvider(client *Client, params CredentialsProviderOpenParams, onTokenRequired OnTokenRequired) *CredentialsProvider {
	if onTokenRequired == nil {
		panic("mintmark: NewCredentialsProvider takes a function that gives tokens")
	}
	params.TokenSource = TokenSourceCaller
	return &CredentialsProvider{
		client: client, params: params, onTokenRequired: onTokenRequired, opening: make(chan struct{}, 1), asking: make(chan struct{}, 1),
	}
}

// Get answers credentials that are good for a while, with IdentityID and RoleARN.
func (p *CredentialsProvider) Get(ctx context.Context) (*CredentialsProviderAnswer, error) {
	return p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		return p.client.CredentialsProvider.Get(ctx, CredentialsProviderGetParams{Provider: handle})
	})
}

// Refresh is Get that renews the credentials in any case.
func (p *CredentialsProvider) Refresh(ctx context.Context) (*CredentialsProviderAnswer, error) {
	isFirst := true
	return p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		refresh := isFirst
		isFirst = false
		return p.client.CredentialsProvider.Get(ctx, CredentialsProviderGetParams{Provider: handle, Refresh: refresh})
	})
}

// IdentityID answers the id of the identity.
func (p *CredentialsProvider) IdentityID(ctx context.Context) (string, error) {
	answer, err := p.ready(ctx, func(handle string) (*CredentialsProviderAnswer, error) {
		return p.client.CredentialsProvider.IdentityID(ctx, CredentialsProviderIdentityIDParams{Provider: handle})
	})
	if err != nil {
		return "", err
	}
	return answer.IdentityID, nil
}

// SetLogins says who the user is now. The identity is kept, and may become another one that the logins own.
func (p *CredentialsProvider) SetLogins(ctx context.Context, logins map[string]Secret) error {
	if err := p.remember(ctx, "credentialsProvider.setLogins", logins); err != nil {
		return err
	}
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.SetLogins(ctx, CredentialsProviderSetLoginsParams{Provider: handle, Logins: logins})
		return err
	})
}

// ClearCredentials drops the credentials and keeps the identity.
func (p *CredentialsProvider) ClearCredentials(ctx context.Context) error {
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.ClearCredentials(ctx, CredentialsProviderClearCredentialsParams{Provider: handle})
		return err
	})
}

// ClearKeychain drops everything: credentials, identity and logins. For a sign-out, and for another user.
func (p *CredentialsProvider) ClearKeychain(ctx context.Context) error {
	if err := p.remember(ctx, "credentialsProvider.clearKeychain", nil); err != nil {
		return err
	}
	return p.do(ctx, func(handle string) error {
		_, err := p.client.CredentialsProvider.ClearKeychain(ctx, CredentialsProviderClearKeychainParams{Provider: handle})
		return err
	})
}

// Close closes it; the identity's id stays in the store under its key.
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
		// Its process was started anew: there is nothing to close.
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

// take is Lock that ends with the context. Receiving from place unlocks.
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
) (answer *CredentialsProviderAnswer, err error) {
	again := func(handle string) error {
		answer, err = read(handle)
		return err
	}
	if err := p.do(ctx, again); err != nil || answer.State != CredentialsProviderAnswerStateTokenRequired {
		return answer, err
	}
	if err := take(ctx, p.asking, "credentialsProvider.get"); err != nil {
		return nil, err
	}
	defer func() { <-p.asking }()
	// Whoever waited here may find it done.
	if err := p.do(ctx, again); err != nil || answer.State != CredentialsProviderAnswerStateTokenRequired {
		return answer, err
	}
	identityID, token, err := p.onTokenRequired(ctx, TokenRequired{answer.Logins, answer.IdentityID, string(answer.Reason)})
	if err != nil {
		return nil, err
	}
	return p.client.CredentialsProvider.SubmitToken(ctx, CredentialsProviderSubmitTokenParams{
		ContinuationToken: answer.ContinuationToken, IdentityID: identityID, Token: token,
	})
}

// do calls with the provider's handle, and once more with a new one where a process that was started anew does not know it.
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
