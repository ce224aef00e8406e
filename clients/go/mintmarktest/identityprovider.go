package mintmarktest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// IdentityProvider is an OpenID Connect provider on 127.0.0.1 with the accounts of the tenant default, for tests of a service. The service
// accepts Token, and must refuse Expired and Foreign. Users sign in with their email address alone; an unknown address gets an account.
type IdentityProvider struct {
	// Issuer is the issuer of the tokens.
	Issuer string
	// JWKSURL is the URL of the public keys.
	JWKSURL string
	// DiscoveryURL is the URL of the discovery document.
	DiscoveryURL string
	// Audience is the audience of tokens for which no other one is given.
	Audience string

	m    *Mintmark
	t    testing.TB
	base string
}

// IdentityProvider starts the OpenID Connect provider of the test. The audience of its tokens is "test", unless another one is given.
func (m *Mintmark) IdentityProvider(audience ...string) *IdentityProvider {
	m.t.Helper()
	yes := true
	issuer := TestIssuer{Name: "default", Passwordless: &yes, CreateAccounts: &yes}
	started, err := m.Test.IDP(context.Background(), TestIDPParams{Issuers: []TestIssuer{issuer}})
	if err != nil {
		m.t.Fatal(err)
	}
	provider := &IdentityProvider{
		Issuer: started.Issuer, JWKSURL: started.JWKSURL, DiscoveryURL: started.DiscoveryURL, Audience: "test", m: m, t: m.t,
		base: started.BaseURL,
	}
	if len(audience) > 0 {
		provider.Audience = audience[0]
	}
	return provider
}

// For returns the same provider for a subtest, which its failures end.
func (p *IdentityProvider) For(t testing.TB) *IdentityProvider {
	provider := *p
	provider.t = t
	return &provider
}

// Token returns a valid access token for the subject "test-user". The parameters replace the defaults.
//
// Its times are those of Mintmark's clock, which Advance and the like move. The clock of your service does not move with it.
func (p *IdentityProvider) Token(params ...TestTokenParams) string {
	p.t.Helper()
	given := one(params)
	if given.Issuer == "" {
		given.Issuer = p.Issuer
	}
	if given.Subject == "" {
		given.Subject = "test-user"
	}
	if given.Audience == "" {
		given.Audience = p.Audience
	}
	if given.Use == "" {
		given.Use = TestTokenUseAccess
	}
	signed, err := p.m.Test.Token(context.Background(), given)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(signed.Token)
}

// Expired returns a token that expired an hour ago, by the clock of Mintmark and by the real time, and is valid otherwise.
func (p *IdentityProvider) Expired(params ...TestTokenParams) string {
	p.t.Helper()
	given := one(params)
	end := p.m.Now()
	if now := time.Now(); now.Before(end) {
		end = now
	}
	exp := end.Add(-time.Hour).Unix()
	claims := map[string]any{"iat": exp - 3600, "exp": exp}
	for name, value := range given.Claims {
		claims[name] = value
	}
	given.Claims = claims
	return p.Token(given)
}

// Foreign returns a token of an issuer that your service does not know, and that is valid otherwise.
func (p *IdentityProvider) Foreign(params ...TestTokenParams) string {
	p.t.Helper()
	given := one(params)
	started, err := p.m.Test.IDP(context.Background(), TestIDPParams{Issuers: []TestIssuer{{Name: "foreign"}}})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, each := range started.Issuers {
		if each.Name == "foreign" {
			given.Issuer = each.Issuer
		}
	}
	return p.Token(given)
}

func one(params []TestTokenParams) TestTokenParams {
	if len(params) == 0 {
		return TestTokenParams{}
	}
	return params[0]
}

// Login signs a user in at your service as a browser does, and returns the last response of the service. The URL is that of the page which
// starts the login by a redirect to the provider, such as "http://127.0.0.1:8080/login". The test closes the body of the response.
func (p *IdentityProvider) Login(start, email string) *http.Response {
	p.t.Helper()
	return p.LoginWith(&http.Client{}, start, email)
}

// LoginWith is Login with a client, which gets a cookie jar if it has none, so that it is signed in afterwards.
func (p *IdentityProvider) LoginWith(client *http.Client, start, email string) *http.Response {
	p.t.Helper()
	if client.Jar == nil {
		client.Jar, _ = cookiejar.New(nil)
	}
	response, err := p.login(client, start, email)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (p *IdentityProvider) login(client *http.Client, start, email string) (*http.Response, error) {
	service := *client
	service.CheckRedirect = stay
	response, err := service.Get(start)
	host := ""
	for hops := 0; hops < 20 && err == nil; hops++ {
		next, redirectErr := response.Location()
		if !isRedirect(response) || redirectErr != nil {
			break
		}
		if strings.HasPrefix(next.String(), p.base+"/") {
			response.Body.Close()
			next, form, signInErr := p.signIn(next.String(), email)
			if signInErr != nil {
				return nil, signInErr
			}
			host = next.Host
			if form != nil {
				response, err = service.PostForm(next.String(), form)
			} else {
				response, err = service.Get(next.String())
			}
			continue
		}
		if host != "" && next.Host != host {
			break // The service sends the browser elsewhere; the login is over.
		}
		response.Body.Close()
		response, err = service.Get(next.String())
	}
	if err != nil {
		return nil, err
	}
	if host == "" {
		response.Body.Close()
		return nil, fmt.Errorf("%s does not lead to the provider: the last answer of the service has the status %d; configure the issuer %s in the service",
			start, response.StatusCode, p.Issuer)
	}
	return response, nil
}

var (
	formAction = regexp.MustCompile(`(?i)<form[^>]*\saction="([^"]*)"`)
	input      = regexp.MustCompile(`(?i)<input[^>]*>`)
	inputName  = regexp.MustCompile(`(?i)\sname="([^"]*)"`)
	inputValue = regexp.MustCompile(`(?i)\svalue="([^"]*)"`)
	hidden     = regexp.MustCompile(`(?is)<style.*?</style>|<script.*?</script>|<[^>]*>`)
)

// signIn sends the form of the login page. It returns what the browser sends to the service next.
func (p *IdentityProvider) signIn(page, email string) (*url.URL, url.Values, error) {
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar, CheckRedirect: stay}
	response, err := browser.PostForm(page, url.Values{"step": {"address"}, "email": {email}})
	for err == nil && isRedirect(response) {
		response.Body.Close()
		next, redirectErr := response.Location()
		if redirectErr != nil {
			return nil, nil, redirectErr
		}
		if !strings.HasPrefix(next.String(), p.base+"/") {
			return next, nil, nil
		}
		response, err = browser.Get(next.String())
	}
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	text := string(body)
	if action, parseErr := url.Parse(found(formAction, text)); parseErr == nil && action.IsAbs() && !strings.HasPrefix(action.String(), p.base+"/") {
		form := url.Values{} // response_mode=form_post
		for _, tag := range input.FindAllString(text, -1) {
			if name := found(inputName, tag); name != "" {
				form.Set(name, found(inputValue, tag))
			}
		}
		return action, form, nil
	}
	words := strings.Join(strings.Fields(html.UnescapeString(hidden.ReplaceAllString(text, " "))), " ")
	if len(words) > 300 {
		words = words[:300]
	}
	return nil, nil, fmt.Errorf("the provider has not signed in %s: status %d, %s", email, response.StatusCode, words)
}

func found(pattern *regexp.Regexp, text string) string {
	if match := pattern.FindStringSubmatch(text); match != nil {
		return html.UnescapeString(match[1])
	}
	return ""
}

func isRedirect(response *http.Response) bool {
	return response.StatusCode >= 301 && response.StatusCode <= 308 && response.Header.Get("Location") != ""
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
