// What the benchmarks have in common: figures, the machine, and whether the addon is worth measuring.
import { statSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'

const ADDON = new URL('../toolbolt.linux-x64-gnu.node', import.meta.url)
/** A release build is far smaller; figures of a debug build mean nothing. */
const RELEASE_MAX_BYTES = 20e6

export const median = figures => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]
export const round = figure => Math.round(figure * 1000) / 1000
export const isRelease = () => statSync(ADDON).size < RELEASE_MAX_BYTES
export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown processor', cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version, load: round(loadavg()[0]),
})
