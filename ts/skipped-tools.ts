/** Tools that a server offers and nobody gets. */

/** A definition that was left out, or something that was noticed about a whole listing. */
export interface SkippedTool {
  /** The server's name for it, if it has one. */
  readonly remoteName: string | null
  readonly reason: string
}

/** What the last listing left out, and what registries that follow could not take. */
export class SkippedTools {
  #listed: readonly SkippedTool[] = []
  readonly #notTaken = new Map<string, string>()

  get all(): readonly SkippedTool[] { return [...this.#listed, ...[...this.#notTaken].map(([remoteName, reason]) => ({ remoteName, reason }))] }

  /** Takes what the core says of a listing; `remoteNames` are the tools that it has. */
  list({ skipped, warnings }: { readonly skipped: readonly SkippedTool[]; readonly warnings: readonly string[] }, remoteNames: Iterable<string>): void {
    this.#listed = [...skipped, ...warnings.map(reason => ({ remoteName: null, reason }))]
    const known = new Set(remoteNames)
    for (const remoteName of this.#notTaken.keys()) if (!known.has(remoteName)) this.#notTaken.delete(remoteName)
  }

  notTaken(remoteName: string, reason: string): void { this.#notTaken.set(remoteName, reason) }

  taken(remoteName: string): void { this.#notTaken.delete(remoteName) }
}
