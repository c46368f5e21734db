/** Whether a message that a service sends comes from it. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { notify } from './listener.js'
import { checkFunction, checkKeys, checkLimitMs, checkText } from './options.js'

/** Why a message is refused: for a log, not for its sender. */
export type WebhookRefusal =
  /** A header that the scheme needs is missing. */
  | 'missingHeader'
  /** A header came twice, or is not written as the scheme has it. */
  | 'malformed'
  /** No signature fits a secret: another secret, another body, or a forgery. */
  | 'mismatch'
  /** The signature is right, and too old or from the future. */
  | 'outsideWindow'

/** Headers as `fetch` and `node:http` have them. */
export type WebhookHeaders = Iterable<readonly [string, string]> | Readonly<Record<string, string | readonly string[] | undefined>>

/** What came, and how it has to be signed. */
export interface WebhookOptions {
  /**
   * `github`: `X-Hub-Signature-256`. `slack`: `X-Slack-Signature`. `stripe`: `Stripe-Signature`. `hmac-sha256`: the header, prefix and
   * encoding that are given.
   */
  scheme: 'github' | 'slack' | 'stripe' | 'hmac-sha256'
  /** The secret that signs, or several of which any may, while one is being replaced. Not empty. */
  secret: string | readonly string[]
  /** The body as it came, before it was parsed. */
  body: string | Uint8Array | ArrayBuffer
  headers: WebhookHeaders
  /** How many milliseconds the signed time may be away from now, in either direction. Default: 300,000. Not for what signs no time. */
  toleranceMs?: number | undefined
  /** Hears why a message is refused. What it throws is ignored. */
  onRefused?: ((reason: WebhookRefusal) => void) | undefined
  /** Of `hmac-sha256`: the header of the signature. Default: `X-Webhook-Signature`. */
  header?: string | undefined
  /** Of `hmac-sha256`: what stands before the signature in its header, such as `sha256=`. Default: nothing. */
  prefix?: string | undefined
  /** Of `hmac-sha256`. Default: `hex`. */
  encoding?: 'hex' | 'base64' | undefined
  /** Of `hmac-sha256`: the header of a time in seconds; then `{time}.{body}` is what is signed. Default: none, and the body alone is. */
  timestampHeader?: string | undefined
}

const OPTIONS = ['scheme', 'secret', 'body', 'headers', 'toleranceMs', 'onRefused']
const DESCRIPTION = ['header', 'prefix', 'encoding', 'timestampHeader']
const SCHEMES: readonly unknown[] = ['github', 'slack', 'stripe', 'hmac-sha256'] satisfies WebhookOptions['scheme'][]

/**
 * Whether a message was signed with the secret, within the last minutes where the scheme signs a time. Signatures are compared in
 * constant time. Whatever comes from outside gives `false`, never an error.
 * @throws ToolError `INVALID_OPTIONS` for options of yours that are wrong: no secret, an empty one, a body that was parsed already.
 */
export function verifyWebhook(options: WebhookOptions): boolean {
  const { form, headers, body } = readOptions(options)
  const refusal = body === undefined ? 'mismatch' : unwrap(() => binding.judgeWebhook(form, headers, body))
  if (refusal == null) return true
  notify(options.onRefused, refusal as WebhookRefusal)
  return false
}

function readOptions(options: WebhookOptions) {
  const { scheme, secret, toleranceMs } = options ?? {}
  const isDescribed = scheme === 'hmac-sha256'
  checkKeys(options, isDescribed ? [...OPTIONS, ...DESCRIPTION] : OPTIONS, 'the options of verifyWebhook')
  if (!SCHEMES.includes(scheme)) throw invalidOption(`scheme must be one of ${SCHEMES.join(', ')}`)
  checkFunction(options.onRefused, 'onRefused')
  checkLimitMs(toleranceMs, 'toleranceMs')
  if (toleranceMs !== undefined && (scheme === 'github' || (isDescribed && options.timestampHeader === undefined))) {
    throw invalidOption('toleranceMs has no effect here: no time is signed. Remember the deliveries that you have handled instead')
  }
  const form = { scheme, secrets: readSecrets(secret), base64: false, ...(toleranceMs === undefined ? {} : { toleranceMs }), ...(isDescribed ? readDescription(options) : {}) }
  return { form, headers: readHeaders(options.headers), body: readBody(options.body) }
}

function readSecrets(secret: unknown): string[] {
  const secrets: unknown[] = Array.isArray(secret) ? [...secret] : [secret]
  if (secrets.length > 0 && secrets.every((one): one is string => typeof one === 'string' && one !== '' && one.isWellFormed())) return secrets
  throw invalidOption('secret must be a text that is not empty and has no half of a surrogate pair, or an array of such texts')
}

function readDescription({ header = 'X-Webhook-Signature', prefix = '', encoding = 'hex', timestampHeader }: WebhookOptions) {
  checkText(header, 'header')
  if (typeof prefix !== 'string') throw invalidOption('prefix must be a text')
  if (encoding !== 'hex' && encoding !== 'base64') throw invalidOption("encoding must be 'hex' or 'base64'")
  checkText(timestampHeader, 'timestampHeader')
  return { header, prefix, base64: encoding === 'base64', ...(timestampHeader === undefined ? {} : { timestampHeader }) }
}

/** Names and values in turn. */
function readHeaders(headers: unknown): string[] {
  if (headers === null || typeof headers !== 'object') throw invalidOption('headers must be those of the request: a Headers object, or an object of texts')
  const pairs: Iterable<unknown> = Symbol.iterator in headers ? (headers as Iterable<unknown>) : Object.entries(headers)
  const flat: string[] = []
  for (const pair of pairs) {
    if (!Array.isArray(pair)) throw invalidOption('headers must be those of the request: pairs of names and values')
    const [name, value] = pair as [unknown, unknown]
    if (typeof name !== 'string') throw invalidOption('the names of headers must be texts')
    // `node:http` has a list where a header came several times.
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) if (typeof one === 'string') flat.push(name, one)
  }
  return flat
}

/** Nothing for a text with half of a surrogate pair: it did not come in UTF-8, and its bytes are those of another text. */
function readBody(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return body.isWellFormed() ? new TextEncoder().encode(body) : undefined
  try {
    // Those of another realm are no instances of the classes here.
    if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer)
  } catch {
    throw invalidOption('the bytes of body were transferred to somebody else. Check the signature before that')
  }
  throw invalidOption('body must be the text or bytes as they came. What a parser made of them cannot be checked: keep the raw body')
}
