package mintmark

import "context"

// Pages reads what a method answers in pages, one after the other:
//
//	pages := m.Pool.ListPages(mintmark.PoolListParams{})
//	for pages.Next(ctx) {
//		use(pages.Page().Pools)
//	}
//	return pages.Err()
type Pages[T any] struct {
	read   func(ctx context.Context, cursor string) (*T, string, error)
	page   *T
	cursor string
	isLast bool
	err    error
}

func newPages[T any](read func(ctx context.Context, cursor string) (*T, string, error)) *Pages[T] {
	return &Pages[T]{read: read}
}

// Next reads the next page, and says whether there is one.
func (p *Pages[T]) Next(ctx context.Context) bool {
	if p.isLast || p.err != nil {
		return false
	}
	p.page, p.cursor, p.err = p.read(ctx, p.cursor)
	p.isLast = p.cursor == ""
	return p.err == nil
}

// Page is the page that Next has read.
func (p *Pages[T]) Page() *T { return p.page }

// Err is why Next has ended, if not because there is no more.
func (p *Pages[T]) Err() error { return p.err }
