package mintmark

import "encoding/json"

// waiting is a call without a response, and its undelivered progress values.
type waiting struct {
	answer      chan outcome
	more        chan struct{}
	isListening bool
	told        []json.RawMessage
}

// tell delivers the pending progress values of a call.
func (p *process) tell(call *waiting, progress func(json.RawMessage)) {
	p.mutex.Lock()
	told := call.told
	call.told = nil
	p.mutex.Unlock()
	for _, value := range told {
		progress(value)
	}
}

// takeNotification passes progress to the call that requested it, and every other notification to the listener.
func (p *process) takeNotification(notification Notification) {
	var told struct{ Token, Value json.RawMessage }
	if notification.Method == "$/progress" && json.Unmarshal(notification.Params, &told) == nil {
		p.mutex.Lock()
		call := p.pending[string(told.Token)]
		isAsked := call != nil && call.isListening
		if isAsked {
			call.told = append(call.told, told.Value)
		}
		p.mutex.Unlock()
		if isAsked {
			select {
			case call.more <- struct{}{}:
			default:
			}
			return
		}
	}
	p.notify(notification)
}
