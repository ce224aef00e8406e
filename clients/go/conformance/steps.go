package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"mintmark.localhost/mintmark"
	"mintmark.localhost/mintmark/mintmarktest"
)

type begun struct {
	cancel context.CancelFunc
	done   chan answer
}

type driver struct {
	mutex     sync.Mutex
	clients   map[string]*mintmark.Client
	heard     map[string][]answer
	asked     map[string][]answer
	calls     map[string]begun
	providers map[string]*provided
}

func newDriver() *driver {
	return &driver{
		clients: map[string]*mintmark.Client{}, heard: map[string][]answer{}, calls: map[string]begun{}, providers: map[string]*provided{},
		asked: map[string][]answer{},
	}
}

func (d *driver) carryOut(s *step) answer {
	ctx := context.Background()
	switch s.Do {
	case "open", "testing":
		return d.open(ctx, s)
	case "many":
		return d.many(ctx, s)
	case "begin":
		ctx, cancel := context.WithCancel(ctx)
		waiting := begun{cancel, make(chan answer, 1)}
		d.calls[s.Call] = waiting
		then := *s
		then.Do = s.Then
		go func() { waiting.done <- d.work(ctx, &then) }()
	case "await":
		return <-d.calls[s.Call].done
	case "cancel":
		d.calls[s.Call].cancel()
	case "bench":
		return d.bench(ctx, s)
	case "notifications":
		d.mutex.Lock()
		defer d.mutex.Unlock()
		return answer{"result": append([]answer{}, d.heard[s.Client]...)}
	case "hooks.asked":
		d.mutex.Lock()
		defer d.mutex.Unlock()
		return answer{"result": append([]answer{}, d.asked[s.Client]...)}
	case "left":
		return answer{"result": runtime.NumGoroutine()}
	case "close":
		return told(nil, d.close(ctx, s))
	default:
		return d.work(ctx, s)
	}
	return answer{"result": nil}
}

// work performs the steps that can run in the background.
func (d *driver) work(ctx context.Context, s *step) answer {
	switch {
	case s.Do == "call" || s.Do == "":
		return d.call(ctx, s)
	case s.Do == "strange":
		return told(nil, d.strange(ctx, s))
	case strings.HasPrefix(s.Do, "provider."):
		return d.provide(ctx, s)
	}
	return answer{"fault": "there is no step " + s.Do}
}

func (d *driver) open(ctx context.Context, s *step) answer {
	d.heard[s.Client] = nil
	listen := func(n mintmark.Notification) {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.heard[s.Client] = append(d.heard[s.Client], answer{"method": n.Method, "params": n.Params})
	}
	options := mintmark.Options{
		Store: s.Store, App: s.App, Binary: s.Binary, Testing: s.Testing, Restart: s.Restart, Arguments: s.Arguments,
		Timeout: time.Duration(s.TimeoutSeconds * float64(time.Second)), Stderr: io.Discard, OnNotification: listen,
		Hooks: d.hooks(s),
	}
	var client *mintmark.Client
	var err error
	if s.Do == "testing" {
		client, err = mintmark.Testing(ctx, mintmark.Options{Stderr: io.Discard, OnNotification: listen})
	} else {
		client, err = mintmark.Start(ctx, options)
	}
	if err == nil {
		d.clients[s.Client] = client
	}
	return told(nil, err)
}

func (d *driver) close(ctx context.Context, s *step) error {
	client, isThere := d.clients[s.Client]
	if !isThere {
		return nil
	}
	if s.GraceSeconds == 0 {
		return client.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.GraceSeconds*float64(time.Second)))
	defer cancel()
	return client.Shutdown(ctx)
}

// call uses the typed method if it accepts these parameters; otherwise it calls the method by its name.
func (d *driver) call(ctx context.Context, s *step) answer {
	var options []mintmark.CallOption
	if s.TimeoutSeconds > 0 {
		options = append(options, mintmark.WithTimeout(time.Duration(s.TimeoutSeconds*float64(time.Second))))
	}
	if s.Trace != "" {
		options = append(options, mintmark.WithTrace(s.Trace))
	}
	client := d.clients[s.Client]
	var raw json.RawMessage
	options = append(options, mintmark.WithRawResult(&raw))
	if method, arguments, ok := typed(client, s); ok {
		in := append([]reflect.Value{reflect.ValueOf(ctx)}, arguments...)
		for _, each := range options {
			in = append(in, reflect.ValueOf(each))
		}
		out := method.Call(in)
		if err, failed := out[1].Interface().(error); failed {
			return told(nil, err)
		}
		return answer{"result": raw}
	}
	var params any
	if len(s.Params) > 0 {
		params = s.Params
	}
	return told(&raw, client.Call(ctx, s.Method, params, nil, options...))
}

// typed returns the typed method of the client and its parameters. The last result is false if the parameters do not survive a round trip.
func typed(client *mintmark.Client, s *step) (reflect.Value, []reflect.Value, bool) {
	namespace, verb, _ := strings.Cut(s.Method, ".")
	methods := reflect.ValueOf(&client.Namespaces).Elem().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, namespace) })
	if namespace == "test" {
		methods = reflect.ValueOf(mintmarktest.Methods(client))
	}
	if !methods.IsValid() {
		return reflect.Value{}, nil, false
	}
	for i := 0; i < methods.NumMethod(); i++ {
		if !strings.EqualFold(methods.Type().Method(i).Name, verb) {
			continue
		}
		method := methods.Method(i)
		if method.Type().NumIn() == 2 {
			return method, nil, same(s.Params, []byte("{}"))
		}
		params := reflect.New(method.Type().In(1))
		given := s.Params
		if len(given) == 0 {
			given = []byte("{}")
		}
		if json.Unmarshal(given, params.Interface()) != nil {
			return method, nil, false
		}
		back, err := json.Marshal(params.Interface())
		return method, []reflect.Value{params.Elem()}, err == nil && same(given, back)
	}
	return reflect.Value{}, nil, false
}

// same reports whether two JSON objects have the same members with equal values. The order within the values must also be the same.
func same(given, back []byte) bool {
	var left, right map[string]json.RawMessage
	if json.Unmarshal(given, &left) != nil && len(given) > 0 || json.Unmarshal(back, &right) != nil || len(left) != len(right) {
		return false
	}
	for name, value := range left {
		if !reflect.DeepEqual(tokens(value), tokens(right[name])) {
			return false
		}
	}
	return true
}

func tokens(text []byte) (all []json.Token) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		all = append(all, token)
	}
}

func (d *driver) many(ctx context.Context, s *step) answer {
	var all []json.RawMessage
	if err := json.Unmarshal(s.Params, &all); err != nil {
		return answer{"fault": err.Error()}
	}
	answers := make([]answer, len(all))
	var group sync.WaitGroup
	for i, params := range all {
		one := *s
		one.Params = params
		group.Add(1)
		go func(i int) {
			defer group.Done()
			answers[i] = d.call(ctx, &one)
		}(i)
	}
	group.Wait()
	return answer{"result": answers}
}

func (d *driver) strange(ctx context.Context, s *step) error {
	cycle := map[string]any{}
	cycle["itself"] = cycle
	deep := []any{}
	for level := 0; level < 70; level++ {
		deep = []any{deep}
	}
	value, isThere := map[string]any{
		"nan": math.NaN(), "infinity": math.Inf(1), "cycle": cycle, "surrogate": "\xed\xa0\x80", "date": time.Now(), "function": func() {},
		"bytes": []byte{255}, "set": map[int]struct{}{1: {}, 2: {}}, "bigint": new(big.Int).Lsh(big.NewInt(1), 70), "deep": deep,
	}[s.Value]
	if !isThere {
		return fmt.Errorf("there is no value %s", s.Value)
	}
	_, err := d.clients[s.Client].Account.SetClaims(ctx, mintmark.AccountSetClaimsParams{AccountID: "a", Claims: map[string]any{"value": value}})
	return err
}
