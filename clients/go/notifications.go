package mintmark

import (
	"encoding/json"
	"sync"
)

// Notification is a notification from Mintmark.
type Notification struct {
	// Method is the name, such as $/progress or credentialsProvider/identityChanged.
	Method string

	// Params has the parameters; for credentialsProvider/identityChanged, an IdentityChange.
	Params json.RawMessage
}

// notifications calls a callback with one notification at a time, in a separate goroutine. The callback may make calls.
type notifications struct {
	callback func(Notification)
	mutex    sync.Mutex
	waiting  []Notification
	isActive bool
}

func newNotifications(callback func(Notification)) *notifications {
	return &notifications{callback: callback}
}

func (n *notifications) add(notification Notification) {
	if n.callback == nil {
		return
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.waiting = append(n.waiting, notification)
	if !n.isActive {
		n.isActive = true
		go n.run()
	}
}

// run delivers notifications until the queue is empty.
func (n *notifications) run() {
	for {
		n.mutex.Lock()
		if len(n.waiting) == 0 {
			n.isActive = false
			n.mutex.Unlock()
			return
		}
		next := n.waiting[0]
		n.waiting = n.waiting[1:]
		n.mutex.Unlock()
		n.callback(next)
	}
}
