// No value of a credential is seen anywhere: errors, events, inspections, JSON, stack traces, standard streams.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch } from './machine.ts'
import { runFixture } from './support.ts'

function assertHidden(output: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    const bytes = Buffer.from(secret)
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), JSON.stringify(JSON.stringify(secret)).slice(3, -3)]
    for (const form of forms) {
      const place = output.indexOf(form)
      assert.equal(place, -1, output.slice(Math.max(0, place - 300), place + 200))
    }
  }
}

test('planted secrets are in no output of a whole run', { timeout: 180_000 }, async () => {
  const secrets = ['given-Planted/1+x', 'stored "Planted" 2 é', 'variable-Planted-3', 'token.Planted~4', 'store-Planted-5']
  const result = await runFixture('connectors-secrets.mjs', [JSON.stringify(secrets)])
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.stderr, '')
  assert.match(result.stdout, /the end\n$/)
  for (const part of ['***', 'my environment has', 'CREDENTIALS_MISSING', 'CREDENTIAL_STORE_FAILED', 'INVALID_OPTIONS', 'CONNECTION_FAILED', 'change', 'asked']) assert.ok(result.stdout.includes(part), `the run shows ${part}`)
  assertHidden(result.stdout, secrets)
  assert.doesNotMatch(result.stdout, /Planted/)
})

test('nothing of an authorization is in any output: codes, tokens, state, verifier', { timeout: 180_000 }, async () => {
  const secrets = ['code-Planted-1', 'access-Planted-2', 'refresh-Planted-3', 'device-Planted-4', 'secret-Planted-5']
  const file = join(scratch(), 'chance')
  const result = await runFixture('oauth-secrets.mjs', [JSON.stringify(secrets), file])
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.stderr, '')
  assert.match(result.stdout, /the end\n$/)
  for (const part of ['AUTHORIZATION_FAILED', 'AUTHORIZATION_REQUIRED', 'CONNECTION_FAILED', 'TIMEOUT', "reason: 'denied'", "reason: 'issuer'", 'AB-CD', 'refreshable: true']) assert.ok(result.stdout.includes(part), `the run shows ${part}`)
  const chance = JSON.parse(readFileSync(file, 'utf8')) as string[]
  assert.ok(chance.length >= 15, `${chance.length} states and verifiers`)
  assertHidden(result.stdout, [...secrets, ...chance])
  assert.doesNotMatch(result.stdout, /Planted/)
})
