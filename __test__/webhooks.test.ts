// Signatures of webhooks, computed here with node:crypto by what the vendors document, and everything that is not one.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { verifyWebhook } from 'toolbolt'
import type { WebhookOptions, WebhookRefusal } from 'toolbolt'
import { coded, prng } from './support.ts'

const SECRET = 'whsec_planted'
const BODY = '{"action":"opened","emoji":"🦀","n":1.0}'
const hmac = (secret: string, ...parts: (string | Uint8Array)[]) => parts.reduce<ReturnType<typeof createHmac>>((mac, part) => mac.update(part), createHmac('sha256', secret))
const now = () => Math.floor(Date.now() / 1000)

/** What is said of a message: `true`, or why not. */
function judge(options: WebhookOptions): true | WebhookRefusal {
  const reasons: WebhookRefusal[] = []
  const fits = verifyWebhook({ ...options, onRefused: reason => { reasons.push(reason) } })
  assert.equal(reasons.length, fits ? 0 : 1)
  return fits || reasons[0]!
}

type Signed = Pick<WebhookOptions, 'scheme' | 'headers' | 'body' | 'header' | 'prefix' | 'encoding' | 'timestampHeader'> & { headers: Record<string, string> }
const SIGN: Record<string, (time?: number, secret?: string, body?: string | Uint8Array) => Signed> = {
  github: (_time, secret = SECRET, body = BODY) => ({ scheme: 'github', body, headers: { 'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}` } }),
  slack: (time = now(), secret = SECRET, body = BODY) => ({ scheme: 'slack', body, headers: { 'x-slack-request-timestamp': `${time}`, 'x-slack-signature': `v0=${hmac(secret, `v0:${time}:`, body).digest('hex')}` } }),
  stripe: (time = now(), secret = SECRET, body = BODY) => ({ scheme: 'stripe', body, headers: { 'stripe-signature': `v0=${'0'.repeat(64)},t=${time},v1=${hmac(secret, `${time}.`, body).digest('hex')}` } }),
  'hmac-sha256': (_time, secret = SECRET, body = BODY) => ({ scheme: 'hmac-sha256', body, headers: { 'x-webhook-signature': hmac(secret, body).digest('hex') } }),
  'hmac-sha256 with a time, in base64': (time = now(), secret = SECRET, body = BODY) => ({
    scheme: 'hmac-sha256', body, header: 'X-Signature', prefix: 'v1=', encoding: 'base64', timestampHeader: 'X-Timestamp',
    headers: { 'x-signature': `v1=${hmac(secret, `${time}.`, body).digest('base64')}`, 'x-timestamp': `${time}` },
  }),
}
const signsTime = (name: string) => name !== 'github' && name !== 'hmac-sha256'

for (const [name, sign] of Object.entries(SIGN)) {
  describe(name, () => {
    test('accepts what was signed, in every form of body and headers', () => {
      const signed = sign()
      const bytes = new TextEncoder().encode(BODY)
      for (const body of [BODY, bytes, Buffer.from(BODY), bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), Buffer.from(`xx${BODY}`).subarray(2)]) {
        assert.equal(judge({ ...signed, body: body as WebhookOptions['body'], secret: SECRET }), true)
      }
      const upper = Object.fromEntries(Object.entries(signed.headers).map(([key, value]) => [key.toUpperCase(), [value]]))
      for (const headers of [new Headers(signed.headers), new Map(Object.entries(signed.headers)), Object.entries(signed.headers), upper]) {
        assert.equal(judge({ ...signed, headers, secret: SECRET }), true)
      }
      assert.equal(judge({ ...signed, secret: ['new', SECRET] }), true)
      for (const body of ['', '\0', new Uint8Array(1 << 20)]) assert.equal(judge({ ...sign(undefined, SECRET, body), secret: SECRET }), true)
    })

    test('refuses another secret, another body, another signature', () => {
      const signed = sign()
      for (const secret of ['other', `${SECRET} `, SECRET.slice(1), ['a', 'b']]) assert.equal(judge({ ...signed, secret }), 'mismatch')
      for (const body of ['', `${BODY} `, BODY.slice(1), BODY.replace('1.0', '1'), JSON.stringify(JSON.parse(BODY))]) assert.equal(judge({ ...signed, body, secret: SECRET }), 'mismatch')
      for (const [header, value] of Object.entries(signed.headers)) {
        for (let at = 0; at < value.length; at += 1) {
          const changed = value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ 1) + value.slice(at + 1)
          // Of Stripe's header a part is no signature that counts.
          if (name === 'stripe' && at < value.indexOf(',t=')) continue
          assert.notEqual(judge({ ...signed, headers: { ...signed.headers, [header]: changed }, secret: SECRET }), true, `${header} ${at}`)
        }
        for (const other of ['', ' ', value.slice(0, -1), `${value}0`, `${value}, ${value}x`, value.replace(/=|$/g, ':'), 'x'.repeat(5000)]) {
          assert.notEqual(judge({ ...signed, headers: { ...signed.headers, [header]: other }, secret: SECRET }), true, other)
        }
        const { [header]: _missing, ...others } = signed.headers
        assert.equal(judge({ ...signed, headers: others, secret: SECRET }), 'missingHeader')
        assert.equal(judge({ ...signed, headers: { ...signed.headers, [header.toUpperCase()]: value }, secret: SECRET }), 'malformed')
        assert.equal(judge({ ...signed, headers: { ...signed.headers, [header]: [value, value] }, secret: SECRET }), 'malformed')
      }
    })

    test('nothing random is a signature, and nothing random throws', () => {
      const { int, pick } = prng(7)
      const parts = ['t=', 'v1=', 'v0=', 'sha256=', ',', '=', `${now()}`, '0'.repeat(64), 'ü', '\0', ' ', '-1']
      for (let round = 0; round < 500; round += 1) {
        const headers = Object.fromEntries(Object.keys(sign().headers).map(header => [header, Array.from({ length: int(6) }, () => pick(parts)).join('')]))
        assert.notEqual(judge({ ...sign(), headers, secret: SECRET }), true)
      }
    })

    test('a replay', () => {
      for (const [age, expected] of [[0, true], [290, true], [-290, true], [310, 'outsideWindow'], [-310, 'outsideWindow'], [86_400, 'outsideWindow']] as const) {
        assert.equal(judge({ ...sign(now() - age), secret: SECRET }), signsTime(name) ? expected : true, `${age}`)
      }
      if (!signsTime(name)) {
        assert.throws(() => verifyWebhook({ ...sign(), secret: SECRET, toleranceMs: 1000 }), coded('INVALID_OPTIONS'), 'a window that would have no effect')
        return
      }
      assert.equal(judge({ ...sign(now() - 30), secret: SECRET, toleranceMs: 10_000 }), 'outsideWindow')
      assert.equal(judge({ ...sign(now() - 3000), secret: SECRET, toleranceMs: 3_600_000 }), true)
      // An old message under a new time is no longer what was signed.
      const [old, fresh] = [sign(now() - 3000), sign()]
      const moved = Object.fromEntries(Object.entries(old.headers).map(([header, value]) => [header, name === 'stripe' ? value.replace(/t=\d+/, `t=${now()}`) : /timestamp/.test(header) ? fresh.headers[header]! : value]))
      assert.equal(judge({ ...old, headers: moved, secret: SECRET }), 'mismatch')
    })
  })
}

test('one of several signatures of Stripe is enough', () => {
  const time = now()
  const right = hmac(SECRET, `${time}.`, BODY).digest('hex')
  const header = `t=${time},v1=${'0'.repeat(64)},v1=${right}`
  assert.equal(judge({ scheme: 'stripe', secret: SECRET, body: BODY, headers: { 'Stripe-Signature': header } }), true)
})

test('a signature is the same for every caller: the one in the page of GitHub', () => {
  const headers = { 'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' }
  assert.equal(verifyWebhook({ scheme: 'github', secret: "It's a Secret to Everybody", body: 'Hello, World!', headers }), true)
})

test('bytes of another realm are bytes, and a listener that throws changes nothing', () => {
  const body = runInNewContext(`new Uint8Array([${[...Buffer.from(BODY)]}])`)
  for (const bytes of [body, body.buffer]) assert.equal(judge({ ...SIGN['github']!(), body: bytes, secret: SECRET }), true)
  assert.equal(verifyWebhook({ ...SIGN['github']!(), secret: 'other', onRefused: () => { throw new Error('x') } }), false)
})

test('options that are wrong throw, so that nothing passes for a check', () => {
  const right = { ...SIGN['github']!(), secret: SECRET }
  const wrong = [
    undefined, null, {}, { scheme: 'gitlab' }, { secret: undefined }, { secret: '' }, { secret: [] }, { secret: [SECRET, ''] }, { secret: 5 }, { body: undefined }, { body: JSON.parse(BODY) }, { body: [1, 2] },
    { headers: undefined }, { headers: 'x' }, { headers: [1] }, { headers: [[1, 2]] }, { onRefused: 5 }, { header: 'x' }, { tolerance: 5 }, { toleranceMs: 5 },
    { scheme: 'slack', toleranceMs: 0 }, { scheme: 'slack', toleranceMs: Number.NaN }, { scheme: 'slack', toleranceMs: null },
    { scheme: 'hmac-sha256', header: '' }, { scheme: 'hmac-sha256', encoding: 'utf8' }, { scheme: 'hmac-sha256', prefix: 5 }, { scheme: 'hmac-sha256', timestampHeader: '' },
  ]
  for (const change of wrong) {
    const options = change == null || Object.keys(change).length === 0 ? change : { ...right, ...change }
    assert.throws(() => verifyWebhook(options as never), coded('INVALID_OPTIONS'), inspect(change))
  }
})

test('bodies and secrets of every shape', () => {
  const bytes = new TextEncoder().encode(BODY)
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  const within = new Uint8Array([0, ...bytes, 0]).subarray(1, -1)
  for (const body of [bytes, bytes.buffer, Buffer.from(BODY), new DataView(bytes.buffer), shared, within]) assert.equal(judge({ ...SIGN['github']!(), body: body as Uint8Array, secret: SECRET }), true, inspect(body))
  // What is no text would else pass for what stands in its place.
  assert.equal(judge({ ...SIGN['github']!(0, SECRET, 'a\ufffd'), secret: SECRET }), true)
  assert.equal(judge({ ...SIGN['github']!(0, SECRET, 'a\ufffd'), body: 'a\ud800', secret: SECRET }), 'mismatch')
  for (const secret of ['\ud800', [SECRET, 'a\udfff']]) assert.throws(() => verifyWebhook({ ...SIGN['github']!(), secret }), coded('INVALID_OPTIONS'))
  const gone = new TextEncoder().encode(BODY)
  structuredClone(gone.buffer, { transfer: [gone.buffer] })
  for (const body of [gone, gone.buffer]) assert.throws(() => verifyWebhook({ ...SIGN['github']!(), body: body as Uint8Array, secret: SECRET }), coded('INVALID_OPTIONS'))
})

test('a server of Node.js that checks what it gets', async () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => { chunks.push(chunk) })
    request.on('end', () => {
      const fits = verifyWebhook({ scheme: 'slack', secret: SECRET, body: Buffer.concat(chunks), headers: request.headers })
      response.writeHead(fits ? 200 : 401).end()
    })
  })
  await new Promise<void>(done => { server.listen(0, '127.0.0.1', done) })
  const { port } = server.address() as AddressInfo
  try {
    const send = async ({ headers }: Signed, body = BODY) => (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status
    assert.equal(await send(SIGN['slack']!()), 200)
    assert.equal(await send(SIGN['slack']!(), `${BODY} `), 401)
    assert.equal(await send(SIGN['slack']!(now() - 600)), 401)
    assert.equal(await send(SIGN['github']!()), 401)
  } finally {
    server.closeAllConnections()
    await new Promise(done => { server.close(done) })
  }
})
