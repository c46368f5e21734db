// What is published: packed, installed into an empty folder elsewhere, and used from ESM, CommonJS and TypeScript.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LIMIT = { timeout: 180_000 }
/** The aim is 16 MiB; see docs/packaging.md. */
const MAX_INSTALLED_BYTES = 19 * 1024 * 1024
/** A debug build is many times as large as a release build. */
const isDebugBuild = (addonBytes: number): boolean => addonBytes > 40 * 1024 * 1024

interface Done { code: number; stdout: string; stderr: string }

/** Runs a program outside the checkout: nothing of this process's loaders or module paths goes with it. */
function run(cwd: string, program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Done> {
  const { NODE_OPTIONS: _options, NODE_PATH: _path, NODE_TEST_CONTEXT: _context, ...rest } = process.env
  const clean = Object.fromEntries(Object.entries(rest).filter(([name]) => !/^npm_/i.test(name) || name === 'npm_config_userconfig'))
  return new Promise(done => {
    execFile(program, args, { cwd, env: { ...clean, ...env }, encoding: 'utf8', maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr })
    })
  })
}

async function succeeds(work: Promise<Done>): Promise<string> {
  const { code, stdout, stderr } = await work
  assert.equal(code, 0, stderr || stdout)
  return stdout
}

async function bytesOf(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder, { recursive: true })) bytes += (await stat(join(folder, name))).size
  return bytes
}

async function emptyProject(parent: string, name: string): Promise<string> {
  const folder = join(parent, name)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
  return folder
}

const install = (folder: string, ...more: string[]) => succeeds(run(folder, 'npm', ['install', '--offline', '--no-audit', '--no-fund', ...more]))

describe('the packed packages', () => {
  let work: string
  let app: string
  let main: string
  let binary: string

  before(async () => {
    work = await realpath(await mkdtemp(join(tmpdir(), 'toolbolt-install-')))
    const packed = JSON.parse((await succeeds(run(ROOT, process.execPath, ['scripts/pack.mjs', '--out', join(work, 'packed')]))).trim())
    ;[main, binary] = packed
    app = await emptyProject(work, 'app')
    for (const name of await readdir(join(ROOT, '__test__/consumer'))) await cp(join(ROOT, '__test__/consumer', name), join(app, name))
    await install(app, main, binary)
  }, LIMIT)

  after(() => rm(work, { recursive: true, force: true }))

  test('two packages are installed, small, and nothing with them', LIMIT, async t => {
    const installed = (await readdir(join(app, 'node_modules'))).filter(name => !name.startsWith('.')).sort()
    assert.deepEqual(installed, ['toolbolt', 'toolbolt-linux-x64-gnu'])
    const manifest = JSON.parse(await readFile(join(app, 'node_modules/toolbolt/package.json'), 'utf8'))
    assert.equal(manifest.dependencies, undefined)
    assert.equal(manifest.scripts, undefined, 'nothing runs at install')
    assert.deepEqual(manifest.optionalDependencies, { 'toolbolt-linux-x64-gnu': manifest.version })
    for (const name of ['README.md', 'LICENSE', 'index.js', 'index.d.ts']) assert.ok((await stat(join(app, 'node_modules/toolbolt', name))).size > 0, name)
    const bytes = await bytesOf(join(app, 'node_modules'))
    const addon = await stat(join(ROOT, 'toolbolt.linux-x64-gnu.node'))
    t.diagnostic(`installed: ${(bytes / 1024 / 1024).toFixed(1)} MiB`)
    if (isDebugBuild(addon.size)) return t.skip('the size counts for a release build; this addon is a debug one')
    assert.ok(bytes <= MAX_INSTALLED_BYTES, `${bytes} bytes`)
  })

  test('no file names a path of the machine that packed it', LIMIT, async () => {
    const addon = await readFile(join(app, 'node_modules/toolbolt-linux-x64-gnu/toolbolt.linux-x64-gnu.node'))
    // Debug builds keep their paths, for debuggers.
    if (!isDebugBuild(addon.length)) for (const path of [ROOT, `${homedir()}/`]) assert.ok(!addon.includes(path), `the binary names ${path}`)
    for (const name of await readdir(join(app, 'node_modules/toolbolt'), { recursive: true })) {
      const path = join(app, 'node_modules/toolbolt', name)
      if ((await stat(path)).isFile()) assert.ok(!(await readFile(path, 'utf8')).includes(ROOT), name)
    }
  })

  test('from an ES module', LIMIT, async () => {
    assert.equal(await succeeds(run(app, process.execPath, ['app.mjs'])), 'esm ok\n')
  })

  test('from CommonJS', LIMIT, async () => {
    assert.equal(await succeeds(run(app, process.execPath, ['app.cjs'])), 'cjs ok\n')
  })

  test('from TypeScript, strict, with the declarations of every library checked', LIMIT, async () => {
    for (const name of ['zod', '@types/node', 'undici-types']) await cp(join(ROOT, 'node_modules', name), join(app, 'node_modules', name), { recursive: true })
    await succeeds(run(app, join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json']))
    assert.equal(await succeeds(run(app, process.execPath, ['out/app.js'])), 'ts ok\n')
  })

  test('publint finds nothing', LIMIT, async () => {
    for (const archive of [main, binary]) {
      const bytes = await readFile(archive)
      const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer } })
      assert.deepEqual(messages.map(message => formatMessage(message, pkg as Record<string, unknown>)), [])
    }
  })

  test('without the package of the platform, importing says what is missing and how to get it', LIMIT, async () => {
    const bare = await emptyProject(work, 'bare')
    await install(bare, '--omit=optional', main)
    assert.deepEqual((await readdir(join(bare, 'node_modules'))).filter(name => !name.startsWith('.')), ['toolbolt'])
    for (const program of ["import 'toolbolt'", "await import('toolbolt')", "import { createRequire } from 'node:module'; createRequire(import.meta.url)('toolbolt')"]) {
      const { code, stderr } = await run(bare, process.execPath, ['--input-type=module', '-e', program])
      assert.equal(code, 1)
      const sentence = stderr.split('\n').find(line => line.startsWith('Error: toolbolt'))
      assert.ok(sentence, stderr)
      assert.ok(sentence.includes(`${process.platform}-${process.arch}`), sentence)
      assert.match(sentence, /npm install --include=optional toolbolt/)
    }
  })

  test('the loader asks for the package that npm/ holds', async () => {
    const { name, main: file } = JSON.parse(await readFile(join(ROOT, 'npm/linux-x64-gnu/package.json'), 'utf8'))
    const loader = await readFile(join(ROOT, 'binding.cjs'), 'utf8')
    assert.ok(loader.includes(`require('${name}')`) && loader.includes(`require('./${file}')`))
  })
})
