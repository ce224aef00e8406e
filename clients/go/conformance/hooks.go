package main

import (
	"context"

	"mintmark.localhost/mintmark"
)

// hooks returns a function for each hook of the step.
func (d *driver) hooks(s *step) (hooks mintmark.HookFunctions) {
	hook := func(behavior string) mintmark.HookFunction {
		return func(ctx context.Context, request *mintmark.HookRequest) (*mintmark.HookAnswer, error) {
			d.mutex.Lock()
			d.asked[s.Client] = append(d.asked[s.Client], answer{"hook": request.Hook, "params": request.Params})
			client := d.clients[s.Client]
			d.mutex.Unlock()
			switch behavior {
			case "changes":
				return &mintmark.HookAnswer{
					DisplayName: mintmark.Ptr("Hooked"), PhotoURL: mintmark.Ptr("https://example.com/hooked.png"), EmailVerified: mintmark.Ptr(true),
					Claims: map[string]any{"role": "staff"}, SessionClaims: map[string]any{"desk": 7},
				}, nil
			case "refuses":
				return nil, mintmark.RefuseHook("not on the list")
			case "fails":
				return nil, errDirectory
			case "calls":
				return nil, client.Call(ctx, "account.find", map[string]any{"username": request.Account.Username}, nil)
			}
			return nil, nil
		}
	}
	for name, behavior := range s.Hooks {
		switch name {
		case "beforeCreate":
			hooks.BeforeCreate = hook(behavior)
		case "beforeSignIn":
			hooks.BeforeSignIn = hook(behavior)
		case "beforeSendMessage":
			hooks.BeforeSendMessage = hook(behavior)
		}
	}
	return hooks
}
