/** What a misspelt word was meant to be. */

/** The known word that a given one is a misspelling of: two strokes away at most, letters' case aside. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const lower = given.toLowerCase()
  let best: string | undefined
  let least = Math.min(2, Math.floor(given.length / 3)) + 1
  for (const word of known) {
    const strokes = distance(lower, word.toLowerCase(), least)
    if (strokes < least) [best, least] = [word, strokes]
  }
  return best
}

/** `; did you mean 'x'?`, or nothing. */
export function suggestion(given: string, known: readonly string[]): string {
  const meant = nearest(given, known)
  return meant === undefined ? '' : `; did you mean '${meant}'?`
}

/** Letters to add, drop, change or swap with their neighbour. What is not below the limit need not be exact. */
function distance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let column = 1; column <= other.length; column++) {
      const same = one[at - 1] === other[column - 1]
      let strokes = Math.min(row[column]! + 1, next[column - 1]! + 1, row[column - 1]! + (same ? 0 : 1))
      if (at > 1 && column > 1 && one[at - 1] === other[column - 2] && one[at - 2] === other[column - 1]) strokes = Math.min(strokes, before[column - 2]! + 1)
      next.push(strokes)
    }
    before = row
    row = next
  }
  return row[other.length]!
}
