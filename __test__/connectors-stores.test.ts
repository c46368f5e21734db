// The stores of this package behind `connect`, end to end: what was put into one is what a real server gets, as a variable or in a header,
// and a store that cannot be opened starts and reaches nothing.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type CredentialStore, EnvironmentCredentialStore, FileCredentialStore, KeyringCredentialStore, MemoryCredentialStore, ToolError } from 'toolbolt'
import { environmentOf, registryOf, remote, spec, withVariables } from './connectors-support.ts'
import { scratch } from './machine.ts'
import { legacy, serve } from './mcp-http-support.ts'
import { coded } from './support.ts'

const LIMIT = { timeout: 120_000 }
const folder = scratch()
let files = 0
const file = () => join(folder, `file-${files++}`)
const KEY = FileCredentialStore.generateKey()
const keyring = await KeyringCredentialStore.isSupported()
const SECRET = 'planted-Secret_1'
const FIELDS = { authFields: [{ key: 'api_key', label: 'The Key', envVar: 'MY_API_KEY' }, { key: 'team', label: 'The Team', envVar: 'MY_TEAM', header: 'X-Team', secret: false }] }
const { header: _header, ...team } = FIELDS.authFields[1]!
const program = spec({ name: 'program', authFields: [FIELDS.authFields[0]!, team] })
const RECORD = { api_key: SECRET, team: 'blue' }

const STORES: Record<string, { make(): CredentialStore; skip?: string | false; variables?: Record<string, string> }> = {
  memory: { make: () => new MemoryCredentialStore() },
  'file with a key': { make: () => new FileCredentialStore({ path: file(), key: KEY }) },
  'file with a password': { make: () => new FileCredentialStore({ path: file(), password: 'correct horse battery' }) },
  keyring: { make: () => new KeyringCredentialStore({ service: `connect-${process.pid}` }), skip: !keyring && 'no keyring here' },
  environment: {
    make: () => new EnvironmentCredentialStore({ variables: { program: { api_key: 'STORE_KEY', team: 'STORE_TEAM' }, far: { api_key: 'STORE_KEY', team: 'STORE_TEAM' } } }),
    variables: { STORE_KEY: SECRET, STORE_TEAM: 'blue' },
  },
}

for (const [kind, { make, skip = false, variables }] of Object.entries(STORES)) {
  describe(`a store: ${kind}`, { skip }, () => {
    test('what is kept is what a program gets as variables and an address as headers', LIMIT, async () => {
      await withVariables({ ...variables, MY_API_KEY: 'of-the-host' }, async () => {
        const store = make()
        if (variables === undefined) for (const name of ['program', 'far']) await store.put(name, RECORD)
        await using server = await serve(legacy())
        await using registry = registryOf([program, remote(server.url, { name: 'far', ...FIELDS })], store)
        const environment = await environmentOf(await registry.connect('program'))
        assert.deepEqual([environment.MY_API_KEY, environment.MY_TEAM, environment.STORE_KEY], [SECRET, 'blue', undefined])
        await registry.connect('far')
        assert.ok(server.received.length >= 2)
        for (const { headers } of server.received) assert.deepEqual([headers.authorization, headers['x-team']], [`Bearer ${SECRET}`, 'blue'])
        if (variables === undefined) for (const name of ['program', 'far']) await store.delete(name)
      })
    })

    test('each connecting asks anew; what is missing comes from elsewhere or is told', LIMIT, async () => {
      if (variables !== undefined) return
      const store = make()
      await using registry = registryOf([program], store)
      await assert.rejects(registry.connect('program'), coded('CREDENTIALS_MISSING'))
      await store.put('program', { team: 'red' })
      await assert.rejects(registry.connect('program'), error => coded('CREDENTIALS_MISSING')(error) && JSON.stringify((error as ToolError).data) === '{"missing":[{"key":"api_key","label":"The Key","envVar":"MY_API_KEY"}]}')
      await store.put('program', { api_key: 'first', team: 'red' })
      assert.equal((await environmentOf(await registry.connect('program'))).MY_API_KEY, 'first')
      await store.put('program', { api_key: 'second', team: 'red' })
      const environment = await environmentOf(await registry.connect('program', { credentials: { team: 'green' } }))
      assert.deepEqual([environment.MY_API_KEY, environment.MY_TEAM], ['second', 'green'])
      await store.delete('program')
      await assert.rejects(registry.connect('program'), coded('CREDENTIALS_MISSING'))
    })
  })
}

describe('a file that cannot be opened', () => {
  /** Neither a program is started nor an address reached, the error is the store's and shows nothing, and the file is as it was. */
  async function refused(path: string, store: CredentialStore, reason: string): Promise<void> {
    const log = file()
    const before = readFileSync(path)
    await using server = await serve(legacy())
    await using registry = registryOf([program, remote(server.url, { name: 'far', ...FIELDS })], store)
    await withVariables({ MY_API_KEY: 'of-another-account', MY_TEAM: 'x' }, async () => {
      for (const name of ['program', 'far']) {
        await assert.rejects(registry.connect(name, name === 'program' ? { client: { env: { CONNECTOR_LOG: log } } } : {}), error => {
          assert.ok(coded('CREDENTIAL_STORE_FAILED')(error) && ToolError.isInstance(error))
          assert.deepEqual((error.data as any).reason, reason)
          assert.match(error.message, new RegExp(`connector '${name}'`))
          assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), /planted|of-another-account/)
          return true
        })
        // What is given needs no store.
        await registry.connect(name, { credentials: { api_key: 'given', team: 'given' } })
        await registry.disconnect(name)
      }
    })
    assert.equal(existsSync(log), false)
    for (const { headers } of server.received) assert.equal(headers.authorization, 'Bearer given')
    assert.deepEqual(readFileSync(path), before)
  }

  for (const right of [{ key: KEY }, { password: 'correct horse battery' }]) {
    test(`by another ${Object.keys(right)[0]}`, LIMIT, async () => {
      const path = file()
      const store = new FileCredentialStore({ path, ...right })
      for (const name of ['program', 'far']) await store.put(name, RECORD)
      await refused(path, new FileCredentialStore({ path, ...('key' in right ? { key: FileCredentialStore.generateKey() } : { password: 'another password' }) }), 'wrongKey')
    })
  }

  test('as it was changed, cut or is none', LIMIT, async () => {
    const path = file()
    const store = new FileCredentialStore({ path, key: KEY })
    await store.put('program', RECORD)
    const kept = readFileSync(path, 'utf8')
    const { sealed } = JSON.parse(kept)
    for (const [text, reason] of [
      [kept.replace(sealed, `${sealed.slice(0, 8)}${sealed[8] === 'A' ? 'B' : 'A'}${sealed.slice(9)}`), 'wrongKey'], [kept.slice(0, -10), 'format'], ['', 'format'], ['{"program":{"api_key":"x"}}', 'format'],
      [kept.replace('credentials-1', 'credentials-2'), 'format'],
    ] as const) {
      writeFileSync(path, text)
      await refused(path, store, reason)
    }
    writeFileSync(path, kept)
    await using registry = registryOf([program], store)
    assert.equal((await environmentOf(await registry.connect('program'))).MY_API_KEY, SECRET)
  })
})
