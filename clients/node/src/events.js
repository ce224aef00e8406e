/** Emitted by a client whose `close` was called. */
export const closing = Symbol("closing");

/**
 * Iterates over the events of the store, across restarts of the process.
 * @param {import("./client.js").Mintmark} client
 * @param {() => boolean} isClosed whether the client was closed.
 */
export async function* follow(client, isClosed, { types, after, signal }) {
  const arrived = [];
  let wake = () => {};
  let isSubscribed = false;
  const listeners = {
    notification: ({ method, params }) => {
      if (method === "events/occurred") arrived.push(params);
      wake();
    },
    exit: () => {
      isSubscribed = false;
      wake();
    },
    [closing]: () => wake(),
  };
  const abort = () => wake();
  for (const name of Reflect.ownKeys(listeners)) client.on(name, listeners[name]);
  signal?.addEventListener("abort", abort);
  const isOver = () => isClosed() || signal?.aborted;
  try {
    while (!isOver()) {
      if (!isSubscribed) {
        isSubscribed = true;
        const { cursor } = await client.events.subscribe({ types, after });
        after ??= cursor;
      }
      while (arrived.length > 0 && !isOver()) {
        const event = arrived.shift();
        // A new subscription repeats events that are still in the queue.
        if (BigInt(event.cursor) <= BigInt(after)) continue;
        after = event.cursor;
        yield event;
      }
      if (!isSubscribed || isOver()) continue;
      // An idle client does not keep Node running, but an iteration does.
      const timer = setInterval(() => {}, 2 ** 31 - 1);
      await new Promise((resolve) => (wake = resolve));
      clearInterval(timer);
    }
  } finally {
    for (const name of Reflect.ownKeys(listeners)) client.off(name, listeners[name]);
    signal?.removeEventListener("abort", abort);
    if (isSubscribed && !isClosed()) await client.events.unsubscribe().catch(() => {});
  }
}
