package mintmarktest

import (
	"context"

	"mintmark.localhost/mintmark"
)

// Methods returns the methods test.* of a client with a testing store.
func Methods(client *mintmark.Client) TestMethods { return TestMethods{client} }

func invoke[T any](ctx context.Context, client *mintmark.Client, method string, params any, options []mintmark.CallOption) (*T, error) {
	result := new(T)
	if err := client.Call(ctx, method, params, result, options...); err != nil {
		return nil, err
	}
	return result, nil
}
