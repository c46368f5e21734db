// What tests need of the machine: throw-away folders, programs, a picture of a folder. Nothing here knows the package.
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The system's own programs first, so that no wrapper of a version manager stands before them. */
export const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/sbin', '/usr/local/bin', ...(process.env.PATH ?? '').split(delimiter)].join(delimiter)

const folders: string[] = []
process.on('exit', () => { for (const folder of folders) rmSync(folder, { recursive: true, force: true }) })

/** A new empty folder, removed when the process ends. */
export function scratch(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'toolbolt-test-')))
  folders.push(folder)
  return folder
}

export function program(folder: string, name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

/** Where a program of this machine is, if it is. */
export function located(name: string): string | undefined {
  return SYSTEM_PATH.split(delimiter).map(folder => join(folder, name)).find(path => existsSync(path))
}

/** Every file under a folder with its content; `skip` names what may change. */
export function snapshot(folder: string, skip: (path: string) => boolean = () => false, below = ''): Map<string, string> {
  const seen = new Map<string, string>()
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name)
    if (skip(path)) continue
    if (entry.isDirectory()) {
      seen.set(`${path}/`, '')
      for (const [inner, content] of snapshot(folder, skip, path)) seen.set(inner, content)
    } else seen.set(path, entry.isFile() ? readFileSync(join(folder, path), 'latin1') : 'special')
  }
  return seen
}

/** The processes of a group that are alive. A zombie only waits to be collected. Linux alone. */
export function aliveInGroup(leader: number): number[] {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number).filter(pid => {
    const [state, , group] = statusOf(pid)
    return Number(group) === leader && state !== 'Z'
  })
}

export const isAlive = (pid: number): boolean => ![undefined, 'Z'].includes(statusOf(pid)[0])

/** State, parent, group and so on; nothing for a process that is gone. */
function statusOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  } catch {
    return []
  }
}
