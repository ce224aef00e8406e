import { atCaller } from "./stack.js";

/**
 * Makes the promise of a page iterable.
 * @param {Promise<object>} promise the first page.
 * @param {string} items the member of a page with its items.
 * @param {(cursor: string) => Promise<object>} next requests the page at a cursor.
 */
export function iterable(promise, items, next) {
  async function* pages() {
    try {
      let page = await promise;
      yield page;
      while (page.nextCursor) yield (page = await next(page.nextCursor));
    } catch (error) {
      throw atCaller(error, pages);
    }
  }
  async function* each() {
    try {
      for await (const page of pages()) yield* page[items] ?? [];
    } catch (error) {
      throw atCaller(error, each);
    }
  }
  return Object.defineProperties(promise, { pages: { value: pages }, [Symbol.asyncIterator]: { value: each } });
}
