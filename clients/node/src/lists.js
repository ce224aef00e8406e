/**
 * Makes the promise of a page iterable.
 * @param {Promise<object>} promise the first page.
 * @param {string} items the member of a page with its items.
 * @param {(cursor: string) => Promise<object>} next requests the page at a cursor.
 */
export function iterable(promise, items, next) {
  async function* pages() {
    let page = await promise;
    yield page;
    while (page.nextCursor) yield (page = await next(page.nextCursor));
  }
  async function* each() {
    for await (const page of pages()) yield* page[items] ?? [];
  }
  return Object.defineProperties(promise, { pages: { value: pages }, [Symbol.asyncIterator]: { value: each } });
}
