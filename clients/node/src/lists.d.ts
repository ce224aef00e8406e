/**
 * The result of a list method. Awaiting it returns one page. Iterating over it returns all items, and requests the following pages when
 * they are needed: `for await (const pool of m.pool.list()) …`.
 */
export interface ListPromise<Item, Page> extends Promise<Page>, AsyncIterable<Item> {
  /** Returns the pages, beginning with the first. Each page is requested with the same parameters and options. */
  pages(): AsyncIterable<Page>;
}
