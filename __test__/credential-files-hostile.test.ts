// The encrypted file in a bad world: cut at every byte, replaced by other things, without rights or room, and written by several processes.
// What was kept is there afterwards, or the error says that it cannot be had; no call waits for ever, and nothing is written over.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FileCredentialStore, ToolError } from 'toolbolt'
import { scratch } from './machine.ts'
import { coded, endedWell, fixturePath, runFixture, within } from './support.ts'

const LIMIT = { timeout: 180_000 }
const SECRET = 'xoxb-planted-3f9c71'
const KEY = FileCredentialStore.generateKey()
const isRoot = process.getuid?.() === 0

function failed(...reasons: string[]) {
  return (error: unknown): true => {
    coded('CREDENTIAL_STORE_FAILED')(error)
    const { reason } = (error as ToolError).data as { reason: string }
    assert.ok(reasons.includes(reason), `${reason}: ${(error as ToolError).message}`)
    assert.doesNotMatch((error as ToolError).message, /planted/)
    return true
  }
}

/** A file with something in it, alone in its folder. */
async function kept(): Promise<{ folder: string; path: string; store: FileCredentialStore; bytes: Buffer }> {
  const folder = scratch()
  const path = join(folder, 'credentials')
  const store = new FileCredentialStore({ path, key: KEY })
  await store.put('slack', { token: SECRET })
  return { folder, path, store, bytes: readFileSync(path) }
}

const accesses = (store: FileCredentialStore): (() => Promise<unknown>)[] => [() => store.get('slack'), () => store.list(), () => store.put('slack', { token: 'x' }), () => store.delete('slack')]

test('cut at every byte it is an error, and stays as it was cut', LIMIT, async () => {
  const { path, store, bytes } = await kept()
  for (let length = 0; length < bytes.length; length += 1) {
    writeFileSync(path, bytes.subarray(0, length))
    for (const access of accesses(store)) await assert.rejects(access(), failed('format'), `${length} bytes`)
    assert.equal(statSync(path).size, length)
  }
  writeFileSync(path, bytes)
  assert.deepEqual(await store.get('slack'), { token: SECRET })
})

test('with anything before or after it, twice, or in another spelling it is none', LIMIT, async () => {
  const { path, store, bytes } = await kept()
  const text = bytes.toString()
  const { format, salt, nonce, sealed } = JSON.parse(text)
  for (const other of [` ${text}`, `${text} `, `\ufeff${text}`, text + text, text.replace('null', 'false'), text.replace('\n', '\r\n'), JSON.stringify({ format, salt, nonce, sealed }), JSON.stringify({ sealed, nonce, salt, format }), text.replace(sealed, `${sealed}=`), text.replace(nonce, ''), text.replace('"salt": null', `"salt": "${Buffer.alloc(16).toString('base64')}"`)]) {
    assert.notEqual(other, text)
    writeFileSync(path, other)
    for (const access of accesses(store)) await assert.rejects(access(), failed('format', 'wrongKey'), other.slice(0, 60))
    assert.equal(readFileSync(path, 'utf8'), other)
  }
})

describe('in its place is', () => {
  const inPlace: Record<string, (path: string, folder: string) => void> = {
    'a link to it': (path, folder) => { renameSync(path, join(folder, 'real')); symlinkSync('real', path) },
    'a link to nothing': path => { rmSync(path); symlinkSync('nowhere', path) },
    'a link to itself': path => { rmSync(path); symlinkSync('credentials', path) },
    'a folder': path => { rmSync(path); mkdirSync(path) },
    'a pipe': path => { rmSync(path); execFileSync('mkfifo', [path]) },
    'a file without end': path => { rmSync(path); symlinkSync('/dev/zero', path) },
    'a file that is too large': path => { writeFileSync(path, Buffer.alloc(1024 * 1024 + 1, 'a')) },
  }
  for (const [what, change] of Object.entries(inPlace)) {
    test(what, LIMIT, async () => {
      const { folder, path, store, bytes } = await kept()
      change(path, folder)
      const before = readdirSync(folder)
      for (const access of accesses(store)) await within(20_000, assert.rejects(access(), failed('file', 'tooLarge')))
      assert.deepEqual(readdirSync(folder), before)
      rmSync(path, { recursive: true })
      writeFileSync(path, bytes)
      assert.deepEqual(await store.get('slack'), { token: SECRET })
    })
  }

  test('a device', { ...LIMIT, skip: !isRoot && 'only root makes devices' }, async t => {
    const { path, store } = await kept()
    rmSync(path)
    if (spawnSync('mknod', [path, 'c', '1', '5']).status !== 0) return t.skip('no devices can be made here')
    for (const access of accesses(store)) await within(20_000, assert.rejects(access(), failed('file')))
  })

  test('one of two names of it: the other keeps the old state', LIMIT, async () => {
    const { folder, path, store, bytes } = await kept()
    linkSync(path, join(folder, 'copy'))
    await store.put('slack', { token: 'new' })
    assert.deepEqual(readFileSync(join(folder, 'copy')), bytes)
    assert.deepEqual(await store.get('slack'), { token: 'new' })
  })

  test('nothing, though the name that changes are written under is taken', LIMIT, async () => {
    for (const [take, works] of [[(path: string) => { writeFileSync(path, 'left') }, true], [(path: string) => { symlinkSync('/etc/hostname', path) }, true], [(path: string) => { execFileSync('mkfifo', [path]) }, true], [(path: string) => { mkdirSync(path) }, false]] as const) {
      const { folder, store } = await kept()
      take(join(folder, '.credentials.new'))
      const put = store.put('slack', { token: 'new' })
      if (works) await put
      else await assert.rejects(put, failed('file'))
      assert.deepEqual(await store.get('slack'), { token: works ? 'new' : SECRET })
    }
  })
})

test('without rights it is an error that says so', { ...LIMIT, skip: isRoot && 'root has every right' }, async () => {
  const { folder, path, store } = await kept()
  chmodSync(path, 0o000)
  for (const access of accesses(store)) await assert.rejects(access(), failed('file'))
  chmodSync(path, 0o600)
  chmodSync(folder, 0o500)
  await assert.rejects(store.put('slack', { token: 'x' }), failed('file'))
  assert.deepEqual(await store.get('slack'), { token: SECRET })
  chmodSync(folder, 0o700)
})

const traces = spawnSync('strace', ['-e', 'inject=fsync:error=ENOSPC', 'true']).status === 0
test('on a full or broken disk the old state stays, and nothing is left beside it', { ...LIMIT, skip: !traces && 'needs strace' }, async () => {
  const code = `import { FileCredentialStore } from 'toolbolt'
    const store = new FileCredentialStore({ path: process.argv[1], key: process.argv[2] })
    const codes = []
    for (const access of [() => store.put('slack', { token: 'new' }), () => store.put('other', { token: 'new' }), () => store.delete('slack')]) codes.push(await access().then(() => 'done', error => error.data.reason))
    console.log(JSON.stringify([codes, await store.get('slack')]))`
  const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
  for (const [call, errno] of [['write', 'ENOSPC'], ['write', 'EDQUOT'], ['write', 'EIO'], ['fsync', 'EIO'], ['fsync', 'ENOSPC'], ['renameat', 'ENOSPC'], ['renameat', 'EROFS']]) {
    const { folder, path, bytes } = await kept()
    const temporary = join(folder, '.credentials.new')
    const only = call === 'renameat' ? [] : ['-P', temporary]
    const args = ['-f', '-qq', '-o', '/dev/null', ...only, '-e', `trace=${call}`, '-e', `inject=${call}:error=${errno}`, process.execPath, '--input-type=module', '-e', code, path, KEY]
    const ended = spawnSync('strace', args, { env, timeout: 120_000, encoding: 'utf8', cwd: fixturePath('..') })
    assert.deepEqual(JSON.parse(ended.stdout || '""'), [['file', 'file', 'file'], { token: SECRET }], `${call} ${errno}: ${ended.stdout}${ended.stderr}`)
    assert.deepEqual([readFileSync(path), readdirSync(folder)], [bytes, ['credentials']], `${call} ${errno}`)
  }
})

test('four processes put, replace and delete, two of them are killed, and nothing of the others is lost', LIMIT, async () => {
  const { path, store, folder } = await kept()
  const writers = ['a', 'b', 'c', 'd'].map(name => runFixture('credential-writer.mjs', [path, KEY, name, '6']))
  const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const killed = ['x', 'y'].map(name => spawn(process.execPath, [fixturePath('credential-writer.mjs'), path, KEY, name, '0'], { env, stdio: 'ignore' }))
  const ends = killed.map(child => new Promise(done => child.on('close', done)))
  setTimeout(() => { for (const child of killed) child.kill('SIGKILL') }, 1_500)
  for (let index = 0; index < 15; index += 1) {
    await store.put(`own-${index}`, { token: `${index}` })
    assert.deepEqual(await store.get('slack'), { token: SECRET })
    if (index % 2 === 1) assert.equal(await store.delete(`own-${index}`), true)
  }
  for (const result of await Promise.all(writers)) endedWell(result)
  await Promise.all(ends)
  const names = new Set(await store.list())
  for (const name of ['a', 'b', 'c', 'd']) for (let index = 0; index < 6; index += 1) assert.ok(names.has(`${name}-${index}`), `${name}-${index}`)
  for (let index = 0; index < 15; index += 1) assert.equal(names.has(`own-${index}`), index % 2 === 0)
  // What one that was killed left is taken away by the next change.
  await store.put('last', { token: 'x' })
  assert.deepEqual(readdirSync(folder), ['credentials'])
})
