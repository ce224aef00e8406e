// Package mintmark is the client of Mintmark, an identity service in one process, which it calls over a pipe.
//
//	m, err := mintmark.Start(ctx, mintmark.Options{Store: "shop.db"})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	pool, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop", DeveloperProvider: "login.shop"})
//
// Methods have the names of the contract: token.mintForDeveloper is m.Token.MintForDeveloper. If the context of a call ends, its request is canceled.
// Errors that Mintmark returns have sentinels for errors.Is, such as [ErrPoolNotFound]. Errors with data also have types for errors.As, such as
// [PoolNotFoundError]. Secrets are not printed. Package mintmarktest starts a process for a test.
package mintmark
