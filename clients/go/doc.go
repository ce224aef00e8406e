// Package mintmark speaks to Mintmark, an identity service in one process, over its pipe.
//
//	m, err := mintmark.Start(ctx, mintmark.Options{Store: "shop.db"})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	pool, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop", DeveloperProvider: "login.shop"})
//
// Methods are those of the contract, token.mintForDeveloper being m.Token.MintForDeveloper. A context that ends cancels its request. Every
// error that Mintmark answers has a type for errors.As, such as *PoolNotFoundError, and is an *AnswerError too. Members and states that this
// client does not know are kept.
package mintmark
