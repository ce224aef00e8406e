// Passkeys serves a page with passkeys:
//
//	go run ./examples/passkeys ../passkeys/page.html
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

// The methods that the page may call. A real application keeps the tokens in a session of its own.
const methods = " signUp.start signUp.submitCode signIn.withContinuation signIn.withCredential account.reauthenticate" +
	" passkey.startRegistration passkey.finishRegistration passkey.startAuthentication passkey.list passkey.delete "

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m, err := mintmark.Testing(ctx, mintmark.Options{Stderr: io.Discard})
	check(err)
	defer m.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	origin := fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	check(m.Call(ctx, "tenant.update", map[string]any{
		"tenantId": "default", "localAccountMethod": "passkey",
		"passkeys": map[string]any{"relyingPartyId": "localhost", "origins": []string{origin}, "residentKey": "preferred"},
	}, nil))

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		method := strings.TrimPrefix(r.URL.Path, "/")
		if r.Method == http.MethodGet && method == "" {
			http.ServeFile(w, r, os.Args[1])
			return
		}
		if r.Method != http.MethodPost || !strings.Contains(methods, " "+method+" ") {
			reply(w, http.StatusNotFound, map[string]any{"message": "not allowed"})
			return
		}
		var params, result json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&params); err != nil {
			reply(w, http.StatusBadRequest, map[string]any{"message": err.Error()})
			return
		}
		if err := m.Call(r.Context(), method, params, &result); err != nil {
			problem := map[string]any{"message": err.Error()}
			var api *mintmark.APIError
			if errors.As(err, &api) {
				problem["type"], problem["data"] = api.Type, api.Data
			}
			reply(w, http.StatusBadRequest, problem)
			return
		}
		reply(w, http.StatusOK, result)
	})
	// The testing store keeps the message. A real user reads the code in the mail.
	http.HandleFunc("/code", func(w http.ResponseWriter, r *http.Request) {
		outbox, err := mintmarktest.Methods(m).Outbox(r.Context(), mintmarktest.TestOutboxParams{To: r.URL.Query().Get("to")})
		check(err)
		reply(w, http.StatusOK, map[string]any{"code": outbox.Messages[len(outbox.Messages)-1].Code})
	})

	server := &http.Server{}
	go func() { <-ctx.Done(); server.Close() }()
	fmt.Println(origin)
	server.Serve(listener)
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
