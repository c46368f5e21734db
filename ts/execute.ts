/** Awaiting a call: with promises, and without. */
import { type Answer, Call, judge, messageOf } from './call.js'
import { operation } from './dispatch.js'
import type { Inner } from './entry.js'
import { ToolError } from './errors.js'
import { ignore } from './listener.js'
import { readProgress } from './native-tool.js'
import { checkExecuteOptions, checkName } from './options.js'
import type { ToolResponse } from './response.js'
import type { ExecuteOptions } from './types.js'
import type { Waited } from './wait.js'

/** Runs a call through the gate. @throws ToolError `INVALID_OPTIONS`, `CLOSED`. */
export async function execute(inner: Inner, name: string, args: unknown, options: ExecuteOptions | undefined): Promise<ToolResponse> {
  const call = start(inner, name, args, options)
  try {
    call.stopIfCancelled()
    if (call.response === undefined) {
      const validating = call.validate()
      if (validating !== undefined) await awaitValidation(call, validating, options)
    }
    if (call.response === undefined && call.mustAsk()) {
      call.stopIfCancelled()
      const asking = call.response === undefined ? call.ask() : undefined
      if (asking !== undefined) call.answer(await awaitAnswer(call, inner, asking, options))
    }
    call.stopIfCancelled()
    if (call.response === undefined) {
      if (call.entry.native !== undefined) await runNative(call, options)
      else {
        const running = call.run()
        if (running !== undefined) await awaitBody(call, running, options)
      }
    }
  } catch (error) {
    endWith(call, error)
  }
  return call.response as unknown as ToolResponse
}

/** Runs a call that may not wait. What turns out to be a promise ends it. @throws ToolError as `execute`. */
export function executeSync(inner: Inner, name: string, args: unknown, options: ExecuteOptions | undefined): ToolResponse {
  const call = start(inner, name, args, options)
  try {
    call.stopIfCancelled()
    if (call.response === undefined && refusePromise(call.validate())) call.fail('badResult', 'a promise from its schema; call it with execute', false)
    if (call.response === undefined && call.mustAsk()) {
      call.stopIfCancelled()
      if (call.response === undefined && refusePromise(call.ask())) {
        call.answer(['promise'])
        call.abort(new ToolError('CONFIRMATION_REJECTED', 'a call that may not wait cannot await a confirmation'))
      }
    }
    call.stopIfCancelled()
    if (call.response === undefined) {
      if (call.entry.native !== undefined) call.runNativeNow()
      else if (refusePromise(call.run())) {
        call.fail('badResult', 'a promise; call it with execute', true)
        call.abort(new ToolError('EXECUTION_FAILED', 'a call that may not wait cannot await its body'))
      }
    }
  } catch (error) {
    endWith(call, error)
  }
  return call.response as unknown as ToolResponse
}

/** Steps 1 to 3, and the caller's own mistakes, which alone are thrown. */
function start(inner: Inner, name: string, args: unknown, options: ExecuteOptions | undefined): Call {
  checkName(name)
  if (options !== undefined) checkExecuteOptions(options)
  const call = new Call(inner, options)
  call.begin(name, args)
  return call
}

/** Whatever a schema, a callback or a body throws ends its call, and the core hears of it. */
function endWith(call: Call, error: unknown): void {
  if (call.response === undefined) call.fail('threw', messageOf(error), call.entered)
}

function refusePromise(value: PromiseLike<unknown> | undefined): boolean {
  ignore(value)
  return value !== undefined
}

async function awaitValidation(call: Call, validating: PromiseLike<Parameters<Call['validated']>[0]>, options: ExecuteOptions | undefined): Promise<void> {
  const limitMs = limitOf(call, options)
  const waited = await call.wait(validating, limitMs, isExplicit(call, options))
  if (waited.kind === 'value') call.validated(waited.value)
  else end(call, waited, limitMs, false)
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
      call.abort(reasonOf(call, waited.kind))
      return waited.kind === 'timedOut' ? ['timedOut', String(Math.ceil(limitMs ?? 0))] : ['cancelled']
  }
}

async function awaitBody(call: Call, running: PromiseLike<unknown>, options: ExecuteOptions | undefined): Promise<void> {
  const limitMs = limitOf(call, options)
  const waited = await call.wait(running, limitMs, isExplicit(call, options))
  if (waited.kind === 'value') call.finish(waited.value)
  else end(call, waited, limitMs, true)
}

function end(call: Call, waited: Exclude<Waited<unknown>, { kind: 'value' }>, limitMs: number | undefined, entered: boolean): void {
  if (waited.kind === 'threw') {
    call.fail('threw', messageOf(waited.error), entered)
    return
  }
  call.fail(waited.kind, String(Math.ceil(limitMs ?? 0)), entered)
  call.abort(reasonOf(call, waited.kind))
}

async function runNative(call: Call, options: ExecuteOptions | undefined): Promise<void> {
  // The core knows the limits of registry and tool; only what somebody asked for is passed on.
  const limitMs = isExplicit(call, options) ? (limitOf(call, options) ?? Number.MAX_SAFE_INTEGER) : undefined
  call.endNative(await operation(token => { call.runNative(token, limitMs) }, update => { call.progress(readProgress(update)) }, options?.signal))
}

function limitOf(call: Call, options: ExecuteOptions | undefined): number | undefined {
  return options?.timeoutMs === undefined ? call.entry.timeoutMs : (options.timeoutMs ?? undefined)
}

function isExplicit(call: Call, options: ExecuteOptions | undefined): boolean {
  return options?.timeoutMs !== undefined || call.entry.explicitTimeout
}

function reasonOf(call: Call, kind: 'timedOut' | 'cancelled'): unknown {
  return kind === 'timedOut' ? new DOMException('the call ran into its time limit', 'TimeoutError') : call.cancelReason()
}
