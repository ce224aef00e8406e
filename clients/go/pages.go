package mintmark

import "context"

// Pages reads a list page by page. With Go 1.23 and later, All iterates over the items:
//
//	for pool, err := range m.Pool.ListPages(mintmark.PoolListParams{}).All(ctx) { … }
//
// With earlier versions, Each calls a function with each item. Next and Page return whole pages.
type Pages[P, T any] struct {
	read   func(ctx context.Context, cursor string) (*P, error)
	split  func(*P) ([]T, string)
	page   *P
	cursor string
	isLast bool
	err    error
}

func newPages[P, T any](cursor string, read func(ctx context.Context, cursor string) (*P, error), split func(*P) ([]T, string)) *Pages[P, T] {
	return &Pages[P, T]{read: read, split: split, cursor: cursor}
}

// Next requests the next page, and reports whether there is one.
func (p *Pages[P, T]) Next(ctx context.Context) bool {
	if p.isLast || p.err != nil {
		return false
	}
	if p.page, p.err = p.read(ctx, p.cursor); p.err != nil {
		return false
	}
	_, p.cursor = p.split(p.page)
	p.isLast = p.cursor == ""
	return true
}

// Page returns the page that Next has read.
func (p *Pages[P, T]) Page() *P { return p.page }

// Items returns the items of the page that Next has read.
func (p *Pages[P, T]) Items() []T {
	items, _ := p.split(p.page)
	return items
}

// Err returns the error that stopped Next, or nil after the last page.
func (p *Pages[P, T]) Err() error { return p.err }

// Each calls a function with each item of the remaining pages. It stops at the first error of the function or of a call.
func (p *Pages[P, T]) Each(ctx context.Context, use func(T) error) error {
	for p.Next(ctx) {
		for _, item := range p.Items() {
			if err := use(item); err != nil {
				return err
			}
		}
	}
	return p.err
}
