package mintmark

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options say which data are used, and how the process is run. Exactly one of Store and App is named.
type Options struct {
	// Store is a file, or ":memory:" for a store that ends with the process.
	Store string

	// App is the application whose store is used, mintmark/<app>.db in the folder of the user's data.
	App string

	// Binary is the program: a path, or a name to be looked for on PATH. Without it: MINTMARK_BINARY, else mintmark.
	Binary string

	// Testing uses a testing store, whose clock can be turned.
	Testing bool

	// Clock is where a new testing store's clock stands.
	Clock time.Time

	// Timeout is how long a call may take whose context and options say nothing. Without it: for ever.
	Timeout time.Duration

	// Restart says whether a call starts a new process after one has died. Without it: unless the store was in memory.
	Restart *bool

	// OnNotification gets what Mintmark tells by itself, one after the other. It may make calls.
	OnNotification func(Notification)

	// Stderr gets the process's log. Without it: this program's standard error; io.Discard drops it.
	Stderr io.Writer

	// Issuer is the base of every issuer, an https URL.
	Issuer string

	// Region is the first part of pool and identity ids. Without it: local-1.
	Region string

	// Account is the account number in ARNs.
	Account string

	// MasterKeyFile is a file with the master key. Without it: <store>.key, or MINTMARK_MASTER_KEY in Environment.
	MasterKeyFile string

	// Caller is which methods are offered: developer, all of them, or public, only what proves itself by tokens.
	Caller string

	// Arguments are further arguments of mintmark serve, as mintmark serve --help lists them.
	Arguments []string

	// Environment has further environment variables, NAME=VALUE.
	Environment []string

	// MaxLineBytes is the longest request. Without it: 1 MiB.
	MaxLineBytes int
}

const inMemory = ":memory:"

func (o *Options) check() error {
	if (o.Store == "") == (o.App == "") {
		return &UsageError{`name either a store or an app: Options{Store: "shop.db"} is a file, Options{Store: ":memory:"} ends with the process, ` +
			`Options{App: "shop"} is the store of that app in the folder of the user's data`}
	}
	if o.Timeout < 0 {
		return &UsageError{"Timeout is a positive duration, or 0 for as long as it takes"}
	}
	return nil
}

func (o *Options) restarts() bool {
	if o.Restart != nil {
		return *o.Restart
	}
	return o.Store != inMemory
}

func (o *Options) binary() string {
	if o.Binary != "" {
		return o.Binary
	}
	if named := os.Getenv("MINTMARK_BINARY"); named != "" {
		return named
	}
	return "mintmark"
}

// A store is named so that another current folder, at a restart, makes no difference.
func (o *Options) store() string {
	if o.Store == "" || o.Store == inMemory || strings.Contains(o.Store, "://") {
		return o.Store
	}
	if path, err := filepath.Abs(o.Store); err == nil {
		return path
	}
	return o.Store
}

func (o *Options) arguments() []string {
	all := []string{"serve"}
	add := func(flag, value string) {
		if value != "" {
			// With "=", a value may begin with "-".
			all = append(all, flag+"="+value)
		}
	}
	add("--store", o.store())
	add("--app", o.App)
	add("--issuer", o.Issuer)
	add("--region", o.Region)
	add("--account", o.Account)
	add("--master-key-file", o.MasterKeyFile)
	add("--caller", o.Caller)
	if o.MaxLineBytes > 0 {
		add("--max-line", strconv.Itoa(o.MaxLineBytes))
	}
	if !o.Clock.IsZero() {
		add("--clock", strconv.FormatInt(o.Clock.Unix(), 10))
	}
	if o.Testing {
		all = append(all, "--testing")
	}
	return append(all, o.Arguments...)
}

// What names a store in the environment would win over the options, and is left out.
func (o *Options) environment() []string {
	var all []string
	for _, each := range os.Environ() {
		if !strings.HasPrefix(each, "MINTMARK_STORE=") && !strings.HasPrefix(each, "MINTMARK_APP=") {
			all = append(all, each)
		}
	}
	return append(all, o.Environment...)
}

func (o *Options) longestLine() int {
	if o.MaxLineBytes > 0 {
		return o.MaxLineBytes
	}
	return 1 << 20
}

// A CallOption says how one call is made.
type CallOption func(*callSettings)

type callSettings struct {
	timeout   time.Duration
	isLimited bool
	trace     string
	progress  func(json.RawMessage)
}

// WithTimeout limits how long one call may take, beside what its context says. A limit that is not positive is over already.
func WithTimeout(limit time.Duration) CallOption {
	return func(s *callSettings) { s.timeout, s.isLimited = limit, true }
}

// WithProgress has a function called with what the method says of its progress, such as account.import, while the call waits and in its
// goroutine.
func WithProgress(progress func(value json.RawMessage)) CallOption {
	return func(s *callSettings) { s.progress = progress }
}

// WithTrace gives at most 128 characters that stand in the logs and audit records of this call.
func WithTrace(trace string) CallOption {
	return func(s *callSettings) { s.trace = trace }
}

// Ptr is a pointer to a value: for members that may be left out and whose zero value means something.
func Ptr[T any](value T) *T { return &value }

// Timestamp is a time in seconds since 1970.
type Timestamp int64

// Time is the same as a time.Time.
func (t Timestamp) Time() time.Time { return time.Unix(int64(t), 0) }

// TimestampOf is a time as Mintmark counts it.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.Unix()) }
