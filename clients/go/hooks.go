package mintmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// hookDeadline is the time within which the process expects the answer to a hook.
const hookDeadline = 7 * time.Second

// HookFunctions are functions that decide about accounts, sessions and messages before they are stored or sent. Client.Hooks.Set switches hooks on for a
// tenant. Every function runs in its own goroutine and can make calls.
type HookFunctions struct {
	// BeforeCreate decides about an account that a user creates.
	BeforeCreate HookFunction

	// BeforeSignIn decides about a new session.
	BeforeSignIn HookFunction

	// BeforeSendMessage decides about a message with a code. It can only refuse.
	BeforeSendMessage HookFunction
}

// HookFunction answers within 7 seconds, after which its context ends. A nil answer allows the operation without a change. RefuseHook refuses it. If a hook
// returns another error, the operation fails with a HookFailedError.
type HookFunction func(ctx context.Context, request *HookRequest) (*HookAnswer, error)

// HookRequest is the question to a hook. Members that the hook does not have are zero.
type HookRequest struct {
	// Hook is the name of the hook, such as beforeSignIn.
	Hook string `json:"-"`

	// Params is the whole question.
	Params json.RawMessage `json:"-"`

	// TenantID is the tenant of the account or message.
	TenantID string `json:"tenantId"`

	// Account is the account as it will be stored.
	Account *Account `json:"account"`

	// Method is the method that asks, such as signIn.withPassword.
	Method string `json:"method"`

	// Provider tells how the user signs in: password, code, passkey, anonymous, custom, or the ID of an identity provider.
	Provider string `json:"provider"`

	// AMR has the authentication methods of the session (RFC 8176).
	AMR []string `json:"amr"`

	// IsNewAccount reports whether the sign-in completes a sign-up or creates the account.
	IsNewAccount bool `json:"isNewAccount"`

	// SecondFactor is the kind of the second factor that was verified.
	SecondFactor string `json:"secondFactor"`

	// Message is the message of BeforeSendMessage.
	Message *HookMessage `json:"message"`
}

// HookMessage is a message that is about to be sent.
type HookMessage struct {
	Channel  Channel `json:"channel"`
	To       string  `json:"to"`
	Purpose  string  `json:"purpose"`
	Language string  `json:"language"`

	// SecondFactor is "signIn" or "enrollment" if the code is for a second factor.
	SecondFactor string `json:"secondFactor"`
}

// HookAnswer is what a hook changes. Members that are nil change nothing.
type HookAnswer struct {
	// DisplayName is the new display name.
	DisplayName *string `json:"displayName,omitempty"`

	// PhotoURL is the URL of the new picture.
	PhotoURL *string `json:"photoUrl,omitempty"`

	// EmailVerified states whether the email address of the account is verified.
	EmailVerified *bool `json:"emailVerified,omitempty"`

	// Claims are the new custom claims of the account, which replace the present ones.
	Claims map[string]any `json:"claims,omitempty"`

	// SessionClaims are claims that only the tokens of the session contain, for BeforeSignIn.
	SessionClaims map[string]any `json:"sessionClaims,omitempty"`

	// Disabled stores the account as disabled if it is true; the operation then fails with an AccountDisabledError.
	Disabled *bool `json:"disabled,omitempty"`
}

// HookRefusal is the error with which a hook refuses.
type HookRefusal struct{ Reason string }

func (e *HookRefusal) Error() string { return "mintmark: the hook refuses: " + e.Reason }

// RefuseHook returns the error with which a hook refuses. The caller of the operation gets a RefusedByHookError with the reason.
func RefuseHook(reason string) error { return &HookRefusal{reason} }

// named returns the function of a hook, or nil.
func (h *HookFunctions) named(name string) HookFunction {
	switch name {
	case "beforeCreate":
		return h.BeforeCreate
	case "beforeSignIn":
		return h.BeforeSignIn
	case "beforeSendMessage":
		return h.BeforeSendMessage
	}
	return nil
}

// names returns the hooks that have a function.
func (h *HookFunctions) names() (names []string) {
	for _, name := range []string{"beforeCreate", "beforeSignIn", "beforeSendMessage"} {
		if h.named(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// offerID is the ID of the request that offers hooks.
const offerID = `"hooks"`

func (h *HookFunctions) offer() []byte {
	names, _ := json.Marshal(h.names())
	return []byte(`{"jsonrpc":"2.0","id":` + offerID + `,"method":"hooks.offer","params":{"hooks":` + string(names) + "}}\n")
}

// answer sends the response to a request of the process.
func (p *process) answer(asked *message) {
	text, err := p.decide(asked)
	line := []byte(`{"jsonrpc":"2.0","id":` + string(asked.ID))
	if err != nil {
		words, _ := json.Marshal(err.Error())
		line = append(append(append(line, `,"error":{"code":-32603,"message":`...), words...), "}}\n"...)
	} else {
		line = append(append(append(line, `,"result":`...), text...), "}\n"...)
	}
	p.input.send(line)
}

func (p *process) decide(asked *message) (text []byte, err error) {
	const prefix = "hook/"
	var hook HookFunction
	if len(asked.Method) > len(prefix) {
		hook = p.hooks.named(asked.Method[len(prefix):])
	}
	if hook == nil {
		return nil, fmt.Errorf("this client has no function for %s", asked.Method)
	}
	defer func() {
		if trouble := recover(); trouble != nil {
			text, err = nil, fmt.Errorf("the hook panicked: %v", trouble)
		}
	}()
	request := &HookRequest{Hook: asked.Method[len(prefix):], Params: asked.Params}
	if err := decode(asked.Params, request); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookDeadline)
	defer cancel()
	answer, err := hook(ctx, request)
	var refusal *HookRefusal
	switch {
	case errors.As(err, &refusal):
		return json.Marshal(map[string]string{"refuse": refusal.Reason})
	case err != nil:
		return nil, err
	case answer == nil:
		return []byte("null"), nil
	}
	e := &encoder{}
	if err := e.value(reflect.ValueOf(answer)); err != nil {
		return nil, err
	}
	return e.text.Bytes(), nil
}
