/** Work on the thread of the host. */

/** How long the host's event loop waits for its next turn, in milliseconds. */
const SLICE_MS = 5

/** Does some work for each item, and lets the event loop have its turn in between. */
export async function inSlices<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = []
  let since = performance.now()
  for (const item of items) {
    results.push(work(item))
    if (performance.now() - since < SLICE_MS) continue
    await new Promise(resume => { setImmediate(resume) })
    since = performance.now()
  }
  return results
}
