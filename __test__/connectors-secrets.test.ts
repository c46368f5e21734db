// No value of a credential is seen anywhere: errors, events, inspections, JSON, stack traces, standard streams.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFixture } from './support.ts'

test('planted secrets are in no output of a whole run', { timeout: 180_000 }, async () => {
  const secrets = ['given-Planted/1+x', 'stored "Planted" 2 é', 'variable-Planted-3', 'token.Planted~4', 'store-Planted-5']
  const result = await runFixture('connectors-secrets.mjs', [JSON.stringify(secrets)])
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.stderr, '')
  assert.match(result.stdout, /the end\n$/)
  for (const part of ['***', 'my environment has', 'CREDENTIALS_MISSING', 'CREDENTIAL_STORE_FAILED', 'INVALID_OPTIONS', 'CONNECTION_FAILED', 'change', 'asked']) assert.ok(result.stdout.includes(part), `the run shows ${part}`)
  for (const secret of secrets) {
    const bytes = Buffer.from(secret)
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), JSON.stringify(JSON.stringify(secret)).slice(3, -3)]
    for (const form of forms) {
      const place = result.stdout.indexOf(form)
      assert.equal(place, -1, result.stdout.slice(Math.max(0, place - 300), place + 200))
    }
  }
  assert.doesNotMatch(result.stdout, /Planted/)
})
