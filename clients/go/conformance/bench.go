package main

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// bench performs s.Calls calls of a typed method with s.AtOnce concurrent callers, and returns the elapsed time in seconds.
func (d *driver) bench(ctx context.Context, s *step) answer {
	method, arguments, ok := typed(d.clients[s.Client], s)
	if !ok {
		return answer{"fault": "there is no typed method " + s.Method}
	}
	in := append([]reflect.Value{reflect.ValueOf(ctx)}, arguments...)
	left := int64(s.Calls)
	failures := make(chan error, s.AtOnce)
	var group sync.WaitGroup
	began := time.Now()
	for i := 0; i < s.AtOnce; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if err, failed := method.Call(in)[1].Interface().(error); failed {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	seconds := time.Since(began).Seconds()
	select {
	case err := <-failures:
		return told(nil, err)
	default:
		return answer{"result": seconds}
	}
}
