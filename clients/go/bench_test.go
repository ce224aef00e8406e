package mintmark

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

func BenchmarkDecodingAHundredAccounts(b *testing.B) {
	var all []string
	for i := 0; i < 100; i++ {
		all = append(all, fmt.Sprintf(`{"accountId":"a%d","tenantId":"default","username":"user%d@example.com","email":"user%d@example.com","emailVerified":true,`+
			`"method":"password","providers":[{"providerId":"password","subject":"user%d@example.com","email":"user%d@example.com"}],`+
			`"attributes":{"city":"Oslo","age":%d},"claims":{"plan":"pro","n":%d},"disabled":false,"mustChangePassword":false,`+
			`"createdAt":1700000000,"updatedAt":1700000000,"lastSignInAt":1700000001}`, i, i, i, i, i, i, i))
	}
	text := []byte(`{"accounts":[` + strings.Join(all, ",") + `],"nextCursor":"x"}`)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		var result AccountListResult
		if err := decode(text, &result); err != nil || len(result.Accounts) != 100 {
			b.Fatal(err)
		}
	}
}

func BenchmarkPing(b *testing.B) {
	benchmarkCalls(b, func(ctx context.Context, m *Client, _ *Pool) error {
		_, err := m.System.Ping(ctx)
		return err
	})
}

func BenchmarkMint(b *testing.B) {
	benchmarkCalls(b, func(ctx context.Context, m *Client, pool *Pool) error {
		_, err := m.Token.MintForDeveloper(ctx, TokenMintForDeveloperParams{PoolID: pool.PoolID, Logins: map[string]Secret{"login.shop": "alice"}})
		return err
	})
}

// benchmarkCalls makes calls from 64 goroutines.
func benchmarkCalls(b *testing.B, call func(context.Context, *Client, *Pool) error) {
	ctx := context.Background()
	m, err := Testing(ctx, Options{Stderr: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	pool, err := m.Pool.Create(ctx, PoolCreateParams{Name: "shop", DeveloperProvider: "login.shop"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(each *testing.PB) {
		for each.Next() {
			if err := call(ctx, m, pool); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
