package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"mintmark.localhost/mintmark"
)

// provided is a CredentialsProvider and its simulated backend.
type provided struct {
	*mintmark.CredentialsProvider

	client  *mintmark.Client
	pool    string
	mutex   sync.Mutex
	backend string
	asked   []map[string]mintmark.Secret
}

func (d *driver) provide(ctx context.Context, s *step) answer {
	if s.Do == "provider.open" {
		return told(nil, d.openProvider(s))
	}
	p := d.providers[s.Provider]
	switch s.Do {
	case "provider.get":
		if s.Refresh {
			return answers(p.Refresh(ctx))
		}
		return answers(p.Get(ctx))
	case "provider.identityId":
		id, err := p.IdentityID(ctx)
		return told(id, err)
	case "provider.setLogins":
		return told(nil, p.SetLogins(ctx, s.Logins))
	case "provider.clearCredentials":
		return told(nil, p.ClearCredentials(ctx))
	case "provider.clearKeychain":
		return told(nil, p.ClearKeychain(ctx))
	case "provider.close":
		return told(nil, p.Close(ctx))
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch s.Do {
	case "provider.asked":
		return answer{"result": append([]map[string]mintmark.Secret{}, p.asked...)}
	case "provider.backend":
		p.backend = s.Backend
		return answer{"result": nil}
	}
	return answer{"fault": "there is no step " + s.Do}
}

func answers(found *mintmark.CredentialsProviderAnswerReady, err error) answer {
	return told(found, err)
}

func (d *driver) openProvider(s *step) error {
	var params mintmark.CredentialsProviderOpenParams
	if err := json.Unmarshal(s.Params, &params); err != nil {
		return err
	}
	p := &provided{client: d.clients[s.Client], pool: params.PoolID, backend: s.Backend}
	p.CredentialsProvider = mintmark.NewCredentialsProvider(p.client, params, p.token)
	d.providers[s.Provider] = p
	return nil
}

// token simulates the backend of the application.
func (p *provided) token(ctx context.Context, required mintmark.TokenRequired) (string, mintmark.Secret, error) {
	p.mutex.Lock()
	p.asked = append(p.asked, required.Logins)
	backend := p.backend
	p.mutex.Unlock()
	switch backend {
	case "fails":
		return "", "", errBackend
	case "slow":
		time.Sleep(300 * time.Millisecond)
	}
	params := mintmark.TokenMintForDeveloperParams{PoolID: p.pool, Logins: required.Logins, IdentityID: required.IdentityID}
	minted, err := p.client.Token.MintForDeveloper(ctx, params)
	if errors.Is(err, mintmark.ErrDeveloperUserAlreadyRegistered) {
		params.IdentityID = ""
		minted, err = p.client.Token.MintForDeveloper(ctx, params)
	}
	if err != nil {
		return "", "", err
	}
	return minted.IdentityID, minted.Token, nil
}
