package mintmarktest_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

// service signs users in at one issuer, and its API trusts access tokens of this issuer.
type service struct {
	issuer, jwksURL, discoveryURL, audience, responseMode string
	url                                                   string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/login":
		http.SetCookie(w, &http.Cookie{Name: "state", Value: "a-state", Path: "/"})
		query := url.Values{"client_id": {"shop"}, "response_type": {"code"}, "redirect_uri": {s.url + "/back"}, "scope": {"openid email"}, "state": {"a-state"}}
		if s.responseMode != "" {
			query.Set("response_mode", s.responseMode)
		}
		http.Redirect(w, r, s.endpoint("authorization_endpoint")+"?"+query.Encode(), http.StatusFound)
	case "/back":
		cookie, err := r.Cookie("state")
		if err != nil || r.FormValue("state") != cookie.Value {
			http.Error(w, "wrong state", http.StatusBadRequest)
			return
		}
		answer, err := http.PostForm(s.endpoint("token_endpoint"), url.Values{
			"grant_type": {"authorization_code"}, "code": {r.FormValue("code")}, "redirect_uri": {s.url + "/back"}, "client_id": {"shop"}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		var tokens struct {
			IDToken string `json:"id_token"`
		}
		json.NewDecoder(answer.Body).Decode(&tokens)
		claims, err := s.verify(tokens.IDToken, "shop")
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "user", Value: claims["email"].(string), Path: "/"})
		http.Redirect(w, r, "/me", http.StatusSeeOther)
	case "/me":
		user, err := r.Cookie("user")
		if err != nil {
			http.Error(w, "not signed in", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, user.Value)
	default:
		claims, err := s.verify(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), s.audience)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, claims["sub"])
	}
}

func (s *service) endpoint(name string) string {
	var document map[string]any
	s.fetch(s.discoveryURL, &document)
	value, _ := document[name].(string)
	return value
}

func (s *service) fetch(from string, into any) error {
	answer, err := http.Get(from)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// verify checks an ES256 token with the packages of Go.
func (s *service) verify(token, audience string) (map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("no token")
	}
	var header struct{ Kid string }
	var claims map[string]any
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	for i, into := range []any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, into) != nil {
			return nil, errors.New("no token")
		}
	}
	var set struct {
		Keys []struct{ Kid, Alg, X, Y string }
	}
	if err := s.fetch(s.jwksURL, &set); err != nil {
		return nil, err
	}
	for _, key := range set.Keys {
		if key.Kid != header.Kid || key.Alg != "ES256" {
			continue
		}
		public := ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if len(signature) != 64 || !ecdsa.Verify(&public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
			return nil, errors.New("wrong signature")
		}
		if claims["iss"] != s.issuer {
			return nil, errors.New("wrong issuer")
		}
		if claims["aud"] != audience {
			return nil, errors.New("wrong audience")
		}
		if exp, _ := claims["exp"].(float64); float64(time.Now().Unix()) >= exp {
			return nil, errors.New("expired")
		}
		return claims, nil
	}
	return nil, errors.New("unknown key")
}

func number(text string) *big.Int {
	bytes, _ := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes)
}

func startService(t *testing.T, idp *mintmarktest.IdentityProvider, responseMode string) *httptest.Server {
	s := &service{issuer: idp.Issuer, jwksURL: idp.JWKSURL, discoveryURL: idp.DiscoveryURL, audience: idp.Audience, responseMode: responseMode}
	server := httptest.NewServer(s)
	s.url = server.URL
	t.Cleanup(server.Close)
	return server
}

func orders(t *testing.T, server *httptest.Server, token string) string {
	t.Helper()
	request, _ := http.NewRequest("GET", server.URL+"/orders", nil)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return body(t, response)
}

func body(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	text := new(strings.Builder)
	if _, err := fmt.Fprint(text, response.StatusCode, " "); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for {
		count, err := response.Body.Read(buffer)
		text.Write(buffer[:count])
		if err != nil {
			return strings.TrimSpace(text.String())
		}
	}
}

func TestAServiceAcceptsOnlyValidTokensOfTheIssuer(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	idp := m.IdentityProvider()
	server := startService(t, idp, "")
	for token, want := range map[string]string{
		idp.Token(): "200 test-user",
		idp.Token(mintmarktest.TestTokenParams{Subject: "alice"}): "200 alice",
		idp.Expired(): "401 expired",
		idp.Foreign(): "401 unknown key",
		idp.Token(mintmarktest.TestTokenParams{Audience: "billing"}):                                     "401 wrong audience",
		idp.Token(mintmarktest.TestTokenParams{KeyState: mintmarktest.TestTokenKeyStateWrong}):           "401 wrong signature",
		idp.Token(mintmarktest.TestTokenParams{Claims: map[string]any{"iss": "https://id.example.com"}}): "401 wrong issuer",
	} {
		if said := orders(t, server, token); said != want {
			t.Errorf("the service says %q, not %q", said, want)
		}
	}
}

func TestTheClockOfMintmarkDoesNotMoveTheClockOfTheService(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	idp := m.IdentityProvider("orders")
	server := startService(t, idp, "")
	good := idp.Token()
	for _, by := range []time.Duration{2 * time.Hour, -4 * time.Hour} {
		m.Advance(by)
		if said := orders(t, server, good); said != "200 test-user" {
			t.Errorf("the service says %q", said)
		}
		if said := orders(t, server, idp.Expired()); said != "401 expired" {
			t.Errorf("the service says %q", said)
		}
	}
}

func TestAUserSignsInAtAService(t *testing.T) {
	t.Parallel()
	m := mintmarktest.New(t)
	idp := m.IdentityProvider()
	for _, responseMode := range []string{"", "form_post"} {
		server := startService(t, idp, responseMode)
		if said := body(t, idp.Login(server.URL+"/login", "alice@example.com")); said != "200 alice@example.com" {
			t.Errorf("the service says %q", said)
		}
		client := &http.Client{}
		idp.LoginWith(client, server.URL+"/login", "bob@example.com")
		response, err := client.Get(server.URL + "/me")
		if err != nil {
			t.Fatal(err)
		}
		if said := body(t, response); said != "200 bob@example.com" {
			t.Errorf("the service says %q", said)
		}
	}
	accounts, err := m.Account.List(context.Background(), mintmark.AccountListParams{})
	if err != nil || len(accounts.Accounts) != 2 {
		t.Errorf("the accounts are %v, %v", accounts, err)
	}
}

// fatal records the message of Fatal.
type fatal struct {
	testing.TB
	message string
}

func (f *fatal) Helper()        {}
func (f *fatal) Cleanup(func()) {}
func (f *fatal) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	panic(f)
}

func TestALoginThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	recorded := &fatal{TB: t}
	m := mintmarktest.New(t)
	idp := m.IdentityProvider()
	server := startService(t, idp, "")
	created, err := m.Account.Create(context.Background(), mintmark.AccountCreateParams{Username: mintmark.Ptr("dave@example.com")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Account.Update(context.Background(), mintmark.AccountUpdateParams{AccountID: created.AccountID, Disabled: mintmark.Ptr(true)}); err != nil {
		t.Fatal(err)
	}
	for page, words := range map[string]string{"/me": "does not lead to the provider", "/login": "has not signed in dave@example.com: status"} {
		func() {
			defer func() { recover() }()
			idp.For(recorded).Login(server.URL+page, "dave@example.com")
		}()
		if !strings.Contains(recorded.message, words) {
			t.Errorf("the message is %q", recorded.message)
		}
	}
}
