package mintmark

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const inMemory = ":memory:"

// place takes the store from MINTMARK_STORE, otherwise the app from MINTMARK_APP, unless the options name one of them.
func (o *Options) place() {
	if o.Store != "" || o.App != "" {
		return
	}
	if o.Store = os.Getenv("MINTMARK_STORE"); o.Store == "" {
		o.App = os.Getenv("MINTMARK_APP")
	}
}

func (o *Options) check() error {
	if (o.Store == "") == (o.App == "") {
		return &UsageError{`name either a store or an app: Options{Store: "shop.db"} is a file, Options{Store: ":memory:"} ends with the process, ` +
			`Options{App: "shop"} is the store of that app in the folder of the user's data; or set the environment variable MINTMARK_STORE or MINTMARK_APP`}
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

func (o *Options) store() string {
	if o.Store == inMemory || strings.Contains(o.Store, "://") {
		return o.Store
	}
	return absolute(o.Store)
}

// absolute makes a path independent of the current directory, which can change before a restart.
func absolute(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

func (o *Options) arguments() []string {
	all := append([]string{"serve"}, o.flags()...)
	if runtime.GOOS == "linux" && o.Parent == 0 {
		// If Arguments has the same option, that value takes precedence, because the last one counts.
		all = append(all, "--parent="+strconv.Itoa(os.Getpid()))
	}
	return append(all, o.Arguments...)
}

// environment omits the variables that name a store: they would take precedence over the options.
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

// CallOption is an option of one call.
type CallOption func(*callSettings)

type callSettings struct {
	timeout   time.Duration
	isLimited bool
	trace     string
	progress  func(json.RawMessage)
	raw       *json.RawMessage
}

// WithTimeout limits the time of one call, in addition to its context. A limit that is zero or negative has already passed.
func WithTimeout(limit time.Duration) CallOption {
	return func(s *callSettings) { s.timeout, s.isLimited = limit, true }
}

// WithRawResult also stores the result as JSON, including members that this client does not know. raw does not change if the call fails.
func WithRawResult(raw *json.RawMessage) CallOption {
	return func(s *callSettings) { s.raw = raw }
}

// reporting decodes each progress value and passes it to progress. Members that do not fit the type are ignored.
func reporting[T any](progress func(T)) CallOption {
	return func(s *callSettings) {
		if progress == nil {
			return
		}
		s.progress = func(value json.RawMessage) {
			var typed T
			_ = decode(value, &typed)
			progress(typed)
		}
	}
}

// WithTrace sets the trace, at most 128 characters, which is written to the logs and audit records of the call.
func WithTrace(trace string) CallOption {
	return func(s *callSettings) { s.trace = trace }
}

// Ptr returns a pointer to a value, for optional members whose zero value differs from an absent member.
func Ptr[T any](value T) *T { return &value }

// Timestamp is a time in seconds since 1970-01-01 UTC.
type Timestamp int64

// Time returns the time as a time.Time.
func (t Timestamp) Time() time.Time { return time.Unix(int64(t), 0) }

// String returns the time in UTC in the format of RFC 3339.
func (t Timestamp) String() string { return t.Time().UTC().Format(time.RFC3339) }

// TimestampOf returns a time, truncated to whole seconds.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.Unix()) }
