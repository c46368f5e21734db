// The stores of credentials: real files, several processes, the keyring of the kernel. What must never happen: a value that is shown, a
// value that is lost, a file that opens though it was changed.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createDecipheriv } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { EnvironmentCredentialStore, FileCredentialStore, KeyringCredentialStore, MemoryCredentialStore, ToolError } from 'toolbolt'
import type { CredentialStore } from 'toolbolt'
import { coded, endedWell, fixturePath, runFixture } from './support.ts'

const SECRET = 'xoxb-planted-3f9c71'
const KEY = FileCredentialStore.generateKey()
const keyringWorks = await KeyringCredentialStore.isSupported()
let folder: string
let files = 0
const newFile = (): string => join(folder, `credentials-${files++}`)

before(() => { folder = mkdtempSync(join(tmpdir(), 'toolbolt-credentials-')) })
after(() => { rmSync(folder, { recursive: true, force: true }) })

/** A failure of a store with this reason. */
function failed(reason: string) {
  return (error: unknown): true => {
    coded('CREDENTIAL_STORE_FAILED')(error)
    assert.equal(((error as ToolError).data as { reason: string }).reason, reason)
    return true
  }
}

const KINDS: Record<string, () => MemoryCredentialStore | FileCredentialStore | KeyringCredentialStore> = {
  memory: () => new MemoryCredentialStore(),
  'file with a key': () => new FileCredentialStore({ path: newFile(), key: KEY }),
  'file with a password': () => new FileCredentialStore({ path: newFile(), password: 'correct horse battery' }),
  keyring: () => new KeyringCredentialStore({ service: `test-${process.pid}` }),
}

for (const [kind, make] of Object.entries(KINDS)) {
  describe(kind, { skip: kind === 'keyring' && !keyringWorks && 'no keyring here' }, () => {
    test('keeps, replaces and forgets', async () => {
      const store: CredentialStore & ReturnType<typeof make> = make()
      assert.deepEqual(await store.list(), [])
      assert.equal(await store.get('slack'), undefined)
      assert.equal(await store.delete('slack'), false)
      assert.equal(await store.put('slack', { bot_token: SECRET, team: 'ü 日本 "\\ \n' }), undefined)
      await store.put('github:work', { token: SECRET })
      assert.deepEqual(await store.get('slack'), { bot_token: SECRET, team: 'ü 日本 "\\ \n' })
      await store.put('slack', { bot_token: 'other' })
      assert.deepEqual(await store.get('slack'), { bot_token: 'other' }, 'the whole record is replaced')
      assert.deepEqual(await store.list(), ['github:work', 'slack'])
      assert.equal(await store.delete('slack'), true)
      assert.equal(await store.delete('github:work'), true)
      assert.deepEqual(await store.list(), [])
    })

    test('what a caller holds is a copy', async () => {
      const store = make()
      const given = { token: SECRET }
      const put = store.put('slack', given)
      given.token = 'changed'
      await put
      const taken = await store.get('slack')
      taken!['token'] = 'changed'
      assert.deepEqual(await store.get('slack'), { token: SECRET })
      await store.delete('slack')
    })

    test('accesses happen in the order of their calls', async () => {
      const store = make()
      const seen = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
        void store.put('slack', { token: `${index}` })
        return (await store.get('slack'))?.['token']
      }))
      assert.deepEqual(seen, Array.from({ length: 20 }, (_, index) => `${index}`))
      await store.delete('slack')
    })

    test('names that no connector can have, and names of JavaScript', async () => {
      const store = make()
      for (const name of ['', 'a b', 'ü', 'a\0', '../x\n', 'x'.repeat(129), '\ud800', undefined, null, 5, {}]) {
        for (const access of [() => store.get(name as string), () => store.put(name as string, { token: 'x' }), () => store.delete(name as string)]) {
          await assert.rejects(access, coded('INVALID_OPTIONS'))
        }
      }
      for (const name of ['__proto__', 'constructor', 'toString']) {
        assert.equal(await store.get(name), undefined)
        await store.put(name, { token: name })
        assert.deepEqual(await store.get(name), { token: name })
        await store.delete(name)
      }
    })

    test('credentials that are none', async () => {
      const store = make()
      const wrong = [undefined, null, 'text', 5, [], ['x'], new Map([['token', 'x']]), {}, { token: '' }, { token: 5 }, { token: null }, { token: { a: 1 } }, { token: 'a\0' }, { token: '\ud800' }, { token: 'x'.repeat(65 * 1024) }, { 'a b': 'x' }, { '': 'x' }, Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`f${index}`, 'x']))]
      for (const credentials of wrong) await assert.rejects(store.put('slack', credentials as Record<string, string>), coded('INVALID_OPTIONS'), inspect(credentials))
      assert.equal(await store.get('slack'), undefined)
    })
  })
}

describe('the environment', () => {
  const variables = { slack: { bot_token: 'TB_TEST_SLACK', team: 'TB_TEST_TEAM' }, github: { token: 'TB_TEST_GITHUB' } }
  const clear = () => { for (const name of ['TB_TEST_SLACK', 'TB_TEST_TEAM', 'TB_TEST_GITHUB']) delete process.env[name] }
  after(clear)

  test('is read anew; empty counts as missing', async () => {
    const store: CredentialStore & EnvironmentCredentialStore = new EnvironmentCredentialStore({ variables })
    assert.equal(await store.get('slack'), undefined)
    assert.deepEqual(await store.list(), [])
    process.env['TB_TEST_SLACK'] = SECRET
    process.env['TB_TEST_TEAM'] = ''
    assert.deepEqual(await store.get('slack'), { bot_token: SECRET })
    assert.deepEqual(await store.list(), ['slack'])
    for (const name of ['nobody', '__proto__']) assert.equal(await store.get(name), undefined)
    clear()
    assert.equal(await store.get('slack'), undefined)
  })

  test('nothing can be kept there', async () => {
    const store = new EnvironmentCredentialStore({ variables })
    await assert.rejects(store.put('slack', { bot_token: SECRET }), failed('readOnly'))
    await assert.rejects(store.delete('slack'), failed('readOnly'))
    assert.equal(process.env['TB_TEST_SLACK'], undefined)
  })

  test('options that are wrong', () => {
    for (const wrong of [undefined, {}, { variables: 5 }, { variables: { slack: 'X' } }, { variables: { slack: { token: 5 } } }, { variables: { slack: { token: 'A-B' } } }, { variables: { 'a b': {} } }, { variables, prefix: 'X' }]) {
      assert.throws(() => new EnvironmentCredentialStore(wrong as never), coded('INVALID_OPTIONS'), inspect(wrong))
    }
  })
})

describe('a file', () => {
  test('another program can open it by what the page says', async () => {
    const path = newFile()
    await new FileCredentialStore({ path, key: KEY }).put('slack', { token: SECRET })
    const { format, salt, nonce, sealed } = JSON.parse(readFileSync(path, 'utf8'))
    assert.deepEqual([format, salt], ['toolbolt-credentials-1', null])
    const opened = openXChaCha(Buffer.from(KEY, 'base64'), Buffer.from(nonce, 'base64'), Buffer.from(sealed, 'base64'), Buffer.concat([Buffer.from(format), Buffer.alloc(17)]))
    assert.deepEqual(JSON.parse(opened.toString()), { slack: { token: SECRET } })
  })

  test('keys in every form', async () => {
    const path = newFile()
    const bytes = Buffer.from(KEY, 'base64')
    await new FileCredentialStore({ path, key: bytes }).put('slack', { token: SECRET })
    process.env['TB_TEST_KEY'] = bytes.toString('hex')
    for (const options of [{ key: KEY }, { key: bytes.toString('base64url') }, { key: bytes.toString('hex') }, { key: new Uint8Array(bytes) }, { keyVariable: 'TB_TEST_KEY' }]) {
      assert.deepEqual(await new FileCredentialStore({ path, ...options }).get('slack'), { token: SECRET })
    }
    for (const unset of [undefined, '']) {
      if (unset === undefined) delete process.env['TB_TEST_KEY']
      else process.env['TB_TEST_KEY'] = unset
      assert.throws(() => new FileCredentialStore({ path, keyVariable: 'TB_TEST_KEY' }), coded('CREDENTIALS_MISSING'))
    }
    delete process.env['TB_TEST_KEY']
  })

  test('a wrong key or password is an error that loses nothing', async () => {
    for (const right of [{ key: KEY }, { password: 'correct horse battery' }]) {
      const path = newFile()
      const store = new FileCredentialStore({ path, ...right })
      await store.put('slack', { token: SECRET })
      const kept = readFileSync(path)
      for (const wrong of [{ key: FileCredentialStore.generateKey() }, { password: 'correct horse batterY' }]) {
        const other = new FileCredentialStore({ path, ...wrong })
        for (const access of [() => other.get('slack'), () => other.put('slack', { token: 'x' }), () => other.delete('slack'), () => other.list()]) await assert.rejects(access, failed('wrongKey'))
      }
      assert.deepEqual(readFileSync(path), kept)
      assert.deepEqual(await store.get('slack'), { token: SECRET })
    }
  })

  test('no region can be changed', async () => {
    const path = newFile()
    const store = new FileCredentialStore({ path, key: KEY })
    await store.put('slack', { token: SECRET })
    const kept = readFileSync(path)
    const regions = new Set<string>()
    for (let at = 0; at < kept.length; at += 1) {
      const changed = Buffer.from(kept)
      changed[at]! ^= 1
      writeFileSync(path, changed)
      await assert.rejects(store.put('other', { token: 'x' }), (error: ToolError) => {
        assert.equal(error.code, 'CREDENTIAL_STORE_FAILED')
        regions.add((error.data as { reason: string }).reason)
        return true
      }, `byte ${at}`)
      assert.deepEqual(readFileSync(path), changed, 'it is left as it is')
    }
    assert.deepEqual([...regions].sort(), ['format', 'wrongKey'])
    for (const cut of [0, 1, kept.length >> 1, kept.length - 1]) {
      writeFileSync(path, kept.subarray(0, cut))
      await assert.rejects(store.get('slack'), failed('format'))
    }
    writeFileSync(path, Buffer.concat([kept, Buffer.from([0xff])]))
    await assert.rejects(store.get('slack'), failed('file'))
    writeFileSync(path, kept)
    assert.deepEqual(await store.get('slack'), { token: SECRET })
  })

  test('only its owner can read it, and nothing else is left beside it', async () => {
    const own = mkdtempSync(join(folder, 'own-'))
    const path = join(own, 'credentials')
    const umask = process.umask(0)
    try {
      const store = new FileCredentialStore({ path, key: KEY })
      await store.put('slack', { token: SECRET })
      assert.equal(statSync(path).mode & 0o777, 0o600)
      chmodSync(path, 0o666)
      await store.put('slack', { token: SECRET })
      assert.equal(statSync(path).mode & 0o777, 0o600)
    } finally {
      process.umask(umask)
    }
    assert.deepEqual(readdirSync(own), ['credentials'])
    assert.doesNotMatch(readFileSync(path, 'latin1'), /slack|planted/)
  })

  test('places where no file can be', async () => {
    const real = newFile()
    await new FileCredentialStore({ path: real, key: KEY }).put('slack', { token: SECRET })
    const link = newFile()
    symlinkSync(real, link)
    for (const path of [link, folder]) {
      const store = new FileCredentialStore({ path, key: KEY })
      await assert.rejects(store.get('slack'), failed('file'))
      await assert.rejects(store.put('slack', { token: 'x' }), failed('file'))
    }
    const missing = new FileCredentialStore({ path: join(folder, 'missing', 'credentials'), key: KEY })
    assert.equal(await missing.get('slack'), undefined)
    await assert.rejects(missing.put('slack', { token: 'x' }), failed('file'))
    const readOnly = newFile()
    writeFileSync(readOnly, '{"mcpServers":{}}')
    await assert.rejects(new FileCredentialStore({ path: readOnly, key: KEY }).put('slack', { token: 'x' }), failed('format'))
    assert.equal(readFileSync(readOnly, 'utf8'), '{"mcpServers":{}}', 'a file of others is not written over')
  })

  test('options that are wrong', () => {
    const path = newFile()
    const wrong = [undefined, {}, { path }, { key: KEY }, { path: '', key: KEY }, { path: 'a\0b', key: KEY }, { path: '~/x', key: KEY }, { path, key: '' }, { path, key: 'short' }, { path, key: new Uint8Array(31) }, { path, key: 5 }, { path, password: 'short' }, { path, password: 5 }, { path, key: KEY, password: 'correct horse' }, { path, keyVariable: '' }, { path, key: KEY, mode: 0o644 }]
    for (const options of wrong) assert.throws(() => new FileCredentialStore(options as never), coded('INVALID_OPTIONS'), inspect(options))
  })

  test('two processes write, and nothing is lost', { timeout: 120_000 }, async () => {
    const path = newFile()
    const store = new FileCredentialStore({ path, key: KEY })
    const writers = ['a', 'b'].map(name => runFixture('credential-writer.mjs', [path, KEY, name, '10']))
    for (let index = 0; index < 10; index += 1) await store.put(`c-${index}`, { token: `${index}` })
    for (const result of await Promise.all(writers)) endedWell(result)
    const names = ['a', 'b', 'c'].flatMap(name => Array.from({ length: 10 }, (_, index) => `${name}-${index}`))
    assert.deepEqual(await store.list(), names.sort())
  })

  test('a writer that is killed leaves the old state or the new one', { timeout: 120_000 }, async () => {
    const path = newFile()
    const store = new FileCredentialStore({ path, key: KEY })
    await store.put('kept', { token: SECRET })
    for (let round = 0; round < 8; round += 1) {
      const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
      const child = spawn(process.execPath, [fixturePath('credential-writer.mjs'), path, KEY, 'killed', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = new Promise(done => child.on('close', done))
      await new Promise<void>(done => { child.stdout.on('data', data => { if (String(data).includes('writing')) setTimeout(done, round * 3) }) })
      child.kill('SIGKILL')
      await ended
      assert.deepEqual(await store.get('kept'), { token: SECRET })
      assert.match((await store.get('killed'))?.['token'] ?? '', /^\.+\d+$/)
      await store.put('after', { token: `${round}` })
    }
  })

  test('an environment that ends while a file is written does not break it', async () => {
    const path = newFile()
    await new FileCredentialStore({ path, key: KEY }).put('kept', { token: SECRET })
    const code = `import { FileCredentialStore } from 'toolbolt'; const store = new FileCredentialStore({ path: process.argv[1], key: process.argv[2] }); for (let i = 0; i < 50; i++) void store.put('x' + i, { token: 'y'.repeat(1000) }); setTimeout(() => process.exit(0), 5)`
    const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code, path, KEY], { env, timeout: 60_000, cwd: fixturePath('..') })
    assert.deepEqual([ended.status, ended.signal], [0, null], String(ended.stderr))
    assert.deepEqual(await new FileCredentialStore({ path, key: KEY }).get('kept'), { token: SECRET })
  })
})

describe('the keyring', { skip: !keyringWorks && 'no keyring here' }, () => {
  test('is shared by stores of one service, also of another process, and by no other', async () => {
    const service = `shared-${process.pid}`
    const store = new KeyringCredentialStore({ service })
    await store.put('slack', { token: SECRET })
    const code = `import { KeyringCredentialStore } from 'toolbolt'; const store = new KeyringCredentialStore({ service: process.argv[1] }); console.log(JSON.stringify([await store.get('slack'), await store.list()])); await store.delete('slack')`
    const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
    const other = spawnSync(process.execPath, ['--input-type=module', '-e', code, service], { env, timeout: 60_000, encoding: 'utf8', cwd: fixturePath('..') })
    assert.deepEqual(JSON.parse(other.stdout), [{ token: SECRET }, ['slack']], other.stderr)
    assert.equal(await store.get('slack'), undefined, 'the other process forgot it')
    await store.put('slack', { token: SECRET })
    assert.equal(await new KeyringCredentialStore({ service: `${service}-other` }).get('slack'), undefined)
    assert.deepEqual(await new KeyringCredentialStore({ service: `${service}-other` }).list(), [])
    await store.delete('slack')
  })

  test('what it has no room for is refused, and what was kept stays', async () => {
    const store = new KeyringCredentialStore({ service: `room-${process.pid}` })
    await store.put('slack', { token: SECRET })
    await assert.rejects(store.put('slack', { token: 'x'.repeat(40_000) }), failed('tooLarge'))
    assert.deepEqual(await store.get('slack'), { token: SECRET })
    await store.delete('slack')
  })
})

test('without a keyring every access is refused in so many words', { skip: spawnSync('strace', ['-e', 'inject=keyctl:error=ENOSYS', 'true']).status !== 0 && 'needs strace' }, () => {
  const code = `
    import { KeyringCredentialStore } from 'toolbolt'
    const store = new KeyringCredentialStore()
    const codes = [await KeyringCredentialStore.isSupported()]
    for (const access of [() => store.get('a'), () => store.put('a', { b: 'c' }), () => store.delete('a'), () => store.list()]) codes.push(await access().catch(error => error.code))
    console.log(JSON.stringify(codes))`
  const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
  for (const errno of ['ENOSYS', 'EPERM']) {
    const args = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=keyctl', '-e', `inject=keyctl:error=${errno}`, process.execPath, '--input-type=module', '-e', code]
    const ended = spawnSync('strace', args, { env, timeout: 60_000, encoding: 'utf8', cwd: fixturePath('..') })
    assert.deepEqual(JSON.parse(ended.stdout), [false, ...Array(4).fill('UNSUPPORTED_PLATFORM')], ended.stderr)
  }
})

test('options of a keyring that are wrong', () => {
  for (const options of [null, { service: '' }, { service: 'a b' }, { service: 'x'.repeat(65) }, { service: 5 }, { name: 'x' }]) {
    assert.throws(() => new KeyringCredentialStore(options as never), coded('INVALID_OPTIONS'), inspect(options))
  }
})

test('no secret is in anything that a program could print', async () => {
  const otherKey = FileCredentialStore.generateKey()
  const result = await runFixture('credential-secrets.mjs', [newFile(), SECRET, KEY, otherKey])
  endedWell(result)
  const printed = result.stdout + result.stderr
  assert.ok(printed.split('CREDENTIAL_STORE_FAILED').length > 5 && printed.split('INVALID_OPTIONS').length > 20, 'there was something to look at')
  for (const secret of [SECRET, SECRET.slice(0, 7), KEY, KEY.slice(0, 20), otherKey, Buffer.from(KEY, 'base64').toString('hex')]) assert.ok(!printed.includes(secret), `${secret} in\n${printed.split('\n').find(line => line.includes(secret))}`)
})

test('a copy of a file opens elsewhere, and a copied store shows nothing', async () => {
  const [path, copy] = [newFile(), newFile()]
  const store = new FileCredentialStore({ path, key: KEY })
  await store.put('slack', { token: SECRET })
  copyFileSync(path, copy)
  assert.deepEqual(await new FileCredentialStore({ path: copy, key: KEY }).get('slack'), { token: SECRET })
  assert.deepEqual(structuredClone({ ...store }), {})
  assert.equal(JSON.stringify(store), '{}')
})

/** XChaCha20-Poly1305 by its draft: HChaCha20 for the key, then ChaCha20-Poly1305 of Node.js. */
function openXChaCha(key: Buffer, nonce: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  const state = Uint32Array.from([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, ...words(key), ...words(nonce.subarray(0, 16))])
  const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by))
  const quarter = (a: number, b: number, c: number, d: number) => {
    for (const [x, y, z, by] of [[a, b, d, 16], [c, d, b, 12], [a, b, d, 8], [c, d, b, 7]] as const) {
      state[x] = state[x]! + state[y]!
      state[z] = rotate(state[z]! ^ state[x]!, by)
    }
  }
  for (let round = 0; round < 10; round += 1) {
    for (const [a, b, c, d] of [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] as const) quarter(a, b, c, d)
  }
  const subkey = Buffer.alloc(32)
  for (const [index, word] of [...state.subarray(0, 4), ...state.subarray(12)].entries()) subkey.writeUInt32LE(word, index * 4)
  const cipher = createDecipheriv('chacha20-poly1305', subkey, Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]), { authTagLength: 16 })
  cipher.setAAD(aad, { plaintextLength: sealed.length - 16 })
  cipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
}

function words(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4))
}
