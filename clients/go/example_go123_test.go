//go:build go1.23

package mintmark_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"

	"mintmark.localhost/mintmark"
)

// All iterates over the items of a list; the pages are requested as needed.
func ExamplePages_All() {
	ctx := context.Background()
	m, err := mintmark.Testing(ctx, mintmark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for _, name := range []string{"one", "two", "three"} {
		if _, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: name}); err != nil {
			log.Fatal(err)
		}
	}
	for pool, err := range m.Pool.ListPages(mintmark.PoolListParams{Limit: 2}).All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pool.Name)
	}
	// Unordered output:
	// one
	// two
	// three
}

// Secrets are not logged.
func ExampleSecret_LogValue() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	logger.Info("minted", "token", mintmark.Secret("eyJ"))
	// Output: {"level":"INFO","msg":"minted","token":"[secret]"}
}

func TestAllYieldsAnErrorAsTheLastElement(t *testing.T) {
	t.Parallel()
	m := start(t, mintmark.Options{})
	var errs []error
	for _, err := range m.Pool.ListPages(mintmark.PoolListParams{Cursor: "wrong"}).All(ctx) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "cursor") {
		t.Fatalf("found %v", errs)
	}
}
