package mintmark_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

// Starts a process with a store in memory, and mints a token for a user of the application.
func Example() {
	ctx := context.Background()
	m, err := mintmark.Start(ctx, mintmark.Options{Store: ":memory:"})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	pool, err := m.Pool.Create(ctx, mintmark.PoolCreateParams{Name: "shop", DeveloperProvider: "login.shop"})
	if err != nil {
		log.Fatal(err)
	}
	minted, err := m.Token.MintForDeveloper(ctx, mintmark.TokenMintForDeveloperParams{
		PoolID: pool.PoolID, Logins: map[string]mintmark.Secret{"login.shop": "alice"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(minted.IsNewIdentity, minted.Token)
	// Output: true [secret]
}

// A user signs up with an email address and a one-time code.
func ExampleSignUpMethods_Start() {
	ctx := context.Background()
	m, err := mintmark.Testing(ctx, mintmark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	step, err := m.SignUp.Start(ctx, mintmark.SignUpStartParams{
		Username: "alice@example.com", Password: mintmark.Ptr[mintmark.Secret]("Correct horse 7 battery"),
	})
	if err != nil {
		log.Fatal(err)
	}
	// A testing store captures the email instead of sending it.
	outbox, err := mintmarktest.Methods(m).Outbox(ctx, mintmarktest.TestOutboxParams{To: "alice@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	for step.State != mintmark.SignUpStepStateCompleted {
		switch required := step.Variant.(type) {
		case *mintmark.SignUpStepCodeRequired:
			step, err = m.SignUp.SubmitCode(ctx, mintmark.SignUpSubmitCodeParams{
				ContinuationToken: required.ContinuationToken, Code: outbox.Messages[len(outbox.Messages)-1].Code,
			})
			if err != nil {
				log.Fatal(err)
			}
		default:
			log.Fatalf("this program does not know the state %s", step.State)
		}
	}
	completed := step.Variant.(*mintmark.SignUpStepCompleted)
	signIn, err := m.SignIn.WithContinuation(ctx, mintmark.SignInWithContinuationParams{ContinuationToken: completed.ContinuationToken})
	if err != nil {
		log.Fatal(err)
	}
	if signedIn, isSignedIn := signIn.Variant.(*mintmark.SignInStepCompleted); isSignedIn {
		fmt.Println(step.State, signIn.State, signedIn.Account.Email)
	}
	// Output: completed completed alice@example.com
}

// A sentinel identifies the error; the type of the error has its data.
func ExampleErrorType() {
	ctx := context.Background()
	m, err := mintmark.Testing(ctx, mintmark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	_, err = m.Pool.Get(ctx, mintmark.PoolGetParams{PoolID: "local-1:00000000-0000-0000-0000-000000000000"})
	fmt.Println(errors.Is(err, mintmark.ErrPoolNotFound))
	var missing *mintmark.PoolNotFoundError
	if errors.As(err, &missing) {
		fmt.Println(missing.Code, missing.PoolID)
	}
	// Output:
	// true
	// 2001 local-1:00000000-0000-0000-0000-000000000000
}

// A context or an option limits the time of a call.
func ExampleWithTimeout() {
	ctx := context.Background()
	m, err := mintmark.Testing(ctx, mintmark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	_, err = m.System.Ping(ctx, mintmark.WithTimeout(time.Nanosecond))
	var late *mintmark.CallTimeoutError
	fmt.Println(errors.As(err, &late), errors.Is(err, context.DeadlineExceeded))
	// Output: true true
}

// For Go versions before 1.23, Each calls a function with each item of a list.
func ExamplePages_Each() {
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
	err = m.Pool.ListPages(mintmark.PoolListParams{Limit: 2}).Each(ctx, func(pool mintmark.PoolSummary) error {
		fmt.Println(pool.Name)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// one
	// two
	// three
}
