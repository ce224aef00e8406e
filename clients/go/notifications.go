package mintmark

import (
	"encoding/json"
	"sync"
)

// Notification is what Mintmark tells without being asked.
type Notification struct {
	// Method is its name, such as $/progress or credentialsProvider/identityChanged.
	Method string

	// Params is what it says; of credentialsProvider/identityChanged an IdentityChange.
	Params json.RawMessage
}

// notifications hands them to a callback, in a goroutine of its own: it may make calls.
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

// run lives while there is something to tell.
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
