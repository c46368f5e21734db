/** Awaiting a call: with promises, and without. */
import { binding } from './binding.js'
import { Call, type Answer, judge, messageOf } from './call.js'
import { operation } from './dispatch.js'
import type { Inner } from './entry.js'
import { ToolError } from './errors.js'
import type { ToolResponse } from './response.js'
import type { StandardResult } from './schema.js'
import { readProgress } from './native-tool.js'
import { checkExecuteOptions, checkName } from './options.js'
import type { ExecuteOptions } from './types.js'
import type { Waited } from './wait.js'

/** Runs a call through the gate. @throws ToolError `INVALID_OPTIONS`, `CLOSED`. */
export async function execute(inner: Inner, name: string, args: unknown, options: ExecuteOptions | undefined): Promise<ToolResponse> {
  checkName(name)
  if (options !== undefined) checkExecuteOptions(options)
  const call = new Call(inner, options)
  call.begin(name, args)
  if (call.response === undefined && options?.signal?.aborted) {
    call.abort(options.signal.reason)
    call.fail('cancelled', '', false)
  }
  if (call.response === undefined) {
    const validating = call.validate()
    if (validating !== undefined) await awaitValidation(call, validating, options)
  }
  if (call.response === undefined && call.mustAsk()) {
    const asking = call.ask()
    if (asking !== undefined) call.answer(await awaitAnswer(call, inner, asking, options))
  }
  if (call.response === undefined) {
    if (call.entry.native !== undefined) await runNative(call, inner, options)
    else {
      const running = call.run()
      if (running !== undefined) await awaitBody(call, running, options)
    }
  }
  return call.response as unknown as ToolResponse
}

/** Runs a call that may not wait. What turns out to be a promise ends it. @throws ToolError as `execute`. */
export function executeSync(inner: Inner, name: string, args: unknown, options: ExecuteOptions | undefined): ToolResponse {
  checkName(name)
  if (options !== undefined) checkExecuteOptions(options)
  const call = new Call(inner, options)
  call.begin(name, args)
  if (call.response === undefined) {
    const validating = call.validate()
    if (validating !== undefined) {
      ignore(validating)
      call.fail('badResult', 'a promise from its schema; call it with execute', false)
    }
  }
  if (call.response === undefined && call.mustAsk()) {
    const asking = call.ask()
    if (asking !== undefined) {
      ignore(asking)
      call.abort(new ToolError('CONFIRMATION_REJECTED', 'a call that may not wait cannot await a confirmation'))
      call.answer(['promise'])
    }
  }
  if (call.response === undefined) {
    if (call.entry.native !== undefined) call.runNativeNow()
    else {
      const running = call.run()
      if (running !== undefined) {
        ignore(running)
        call.abort(new ToolError('EXECUTION_FAILED', 'a call that may not wait cannot await its body'))
        call.fail('badResult', 'a promise; call it with execute', true)
      }
    }
  }
  return call.response as unknown as ToolResponse
}

async function awaitValidation(call: Call, validating: Promise<StandardResult>, options: ExecuteOptions | undefined): Promise<void> {
  const limitMs = limitOf(call, options)
  const waited = await call.wait(validating, limitMs, isExplicit(call, options))
  if (waited.kind === 'value') call.validated(waited.value)
  else end(call, waited, limitMs, false, options)
}

async function awaitAnswer(call: Call, inner: Inner, asking: PromiseLike<unknown>, options: ExecuteOptions | undefined): Promise<Answer> {
  const limitMs = options?.confirmTimeoutMs === undefined ? inner.confirmTimeoutMs : (options.confirmTimeoutMs ?? undefined)
  const waited = await call.wait(asking, limitMs, true)
  switch (waited.kind) {
    case 'value':
      return judge(waited.value)
    case 'threw':
      return ['threw', messageOf(waited.error)]
    default:
      call.abort(reasonOf(waited.kind, options))
      return waited.kind === 'timedOut' ? ['timedOut', String(limitMs)] : ['cancelled']
  }
}

async function awaitBody(call: Call, running: PromiseLike<unknown>, options: ExecuteOptions | undefined): Promise<void> {
  const limitMs = limitOf(call, options)
  const waited = await call.wait(running, limitMs, isExplicit(call, options))
  if (waited.kind === 'value') call.finish(waited.value)
  else end(call, waited, limitMs, true, options)
}

function end(call: Call, waited: Exclude<Waited<unknown>, { kind: 'value' }>, limitMs: number | undefined, entered: boolean, options: ExecuteOptions | undefined): void {
  if (waited.kind === 'threw') {
    call.fail('threw', messageOf(waited.error), entered)
    return
  }
  call.fail(waited.kind, String(limitMs ?? ''), entered)
  call.abort(reasonOf(waited.kind, options))
}

async function runNative(call: Call, inner: Inner, options: ExecuteOptions | undefined): Promise<void> {
  const cancel = new binding.CancelSource()
  const stop = () => { cancel.cancel() }
  inner.closers.add(stop)
  options?.signal?.addEventListener('abort', stop, { once: true })
  try {
    // The core knows the limits of registry and tool; only what somebody asked for is passed on.
    const limitMs = isExplicit(call, options) ? (limitOf(call, options) ?? Number.MAX_SAFE_INTEGER) : undefined
    call.endNative(await operation(token => { call.runNative(token, limitMs, cancel) }, update => { call.progress(readProgress(update)) }))
  } finally {
    inner.closers.delete(stop)
    options?.signal?.removeEventListener('abort', stop)
  }
}

function limitOf(call: Call, options: ExecuteOptions | undefined): number | undefined {
  return options?.timeoutMs === undefined ? call.entry.timeoutMs : (options.timeoutMs ?? undefined)
}

function isExplicit(call: Call, options: ExecuteOptions | undefined): boolean {
  return options?.timeoutMs !== undefined || call.entry.explicitTimeout
}

function reasonOf(kind: 'timedOut' | 'cancelled', options: ExecuteOptions | undefined): unknown {
  if (kind === 'timedOut') return new DOMException('the call ran into its time limit', 'TimeoutError')
  return options?.signal?.reason ?? new DOMException('the call was cancelled', 'AbortError')
}

/** A promise that nobody waits for must not reject unheard. */
function ignore(promise: PromiseLike<unknown>): void {
  promise.then(() => {}, () => {})
}

