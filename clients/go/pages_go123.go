//go:build go1.23

package mintmark

import (
	"context"
	"iter"
)

// All iterates over the items of the remaining pages. An error is the last element.
func (p *Pages[P, T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for p.Next(ctx) {
			for _, item := range p.Items() {
				if !yield(item, nil) {
					return
				}
			}
		}
		if p.err != nil {
			var none T
			yield(none, p.err)
		}
	}
}
