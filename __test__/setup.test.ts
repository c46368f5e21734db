// What the two commands of the README do before anything else: they find out what is missing, and say it in one sentence.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SCRIPTS = new URL('../scripts/', import.meta.url)
const { nodeProblem, cargoProblem, missing }: { nodeProblem(v: string): string | undefined; cargoProblem(v?: string): string | undefined; missing(root: string): string[] } =
  await import(new URL('setup.mjs', SCRIPTS).href)

test('which Node.js will do', () => {
  for (const version of ['v20.19.0', 'v20.20.2', 'v22.12.0', 'v22.20.1', 'v23.0.0', 'v24.1.0', 'v30.0.0']) assert.equal(nodeProblem(version), undefined, version)
  for (const version of ['v18.20.0', 'v20.18.9', 'v21.7.3', 'v22.11.0']) assert.match(nodeProblem(version)!, new RegExp(`^toolbolt needs Node\\.js 20\\.19 .*this is ${version}`))
})

test('where there is a packaged Node.js 22', async () => {
  const { unavailable }: { unavailable(platform: string, arch: string, isGlibc: boolean): string | undefined } = await import(new URL('node-22.mjs', SCRIPTS).href)
  assert.equal(unavailable('linux', 'x64', true), undefined)
  for (const [platform, arch, isGlibc] of [['linux', 'arm64', true], ['darwin', 'arm64', true], ['linux', 'x64', false], ['win32', 'x64', true]] as const) {
    assert.ok(unavailable(platform, arch, isGlibc)!.includes(`${platform}-${arch}`))
  }
})

test('the frameworks: exact versions, those that the page names, each on a Node.js that it supports', async () => {
  const { frameworkMissing, frameworkFolder, FRAMEWORKS }: { frameworkMissing(name: string, version: string): string | undefined; frameworkFolder(name: string): string; FRAMEWORKS: string[] } = await import(new URL('frameworks.mjs', SCRIPTS).href)
  assert.deepEqual(readdirSync(join(frameworkFolder('ai-6'), '..')).sort(), [...FRAMEWORKS].sort())
  const page = readFileSync(new URL('../docs/frameworks.md', import.meta.url), 'utf8')
  for (const name of FRAMEWORKS) {
    const { dependencies } = JSON.parse(readFileSync(join(frameworkFolder(name), 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
    for (const [dependency, version] of Object.entries(dependencies)) {
      assert.match(version, /^\d+\.\d+\.\d+$/, dependency)
      if (dependency !== 'zod') assert.ok(page.includes(`\`${dependency}\``) && page.includes(version), `${dependency} ${version} is not in docs/frameworks.md`)
    }
  }
  assert.match(frameworkMissing('ai-7', '20.19.0')!, /needs Node\.js 22/)
  assert.doesNotMatch(frameworkMissing('ai-7', '22.12.0') ?? '', /needs/)
})

test('which Rust will do', () => {
  for (const answer of ['cargo 1.88.0 (873a06493 2025-05-10)', 'cargo 1.95.0', 'cargo 2.0.0']) assert.equal(cargoProblem(answer), undefined, answer)
  assert.match(cargoProblem('cargo 1.87.0 (x)\n')!, /needs Rust 1\.88 or later; this is cargo 1\.87\.0 \(x\)\. Update/)
  assert.match(cargoProblem(undefined)!, /there is no cargo here\. Install Rust/)
})

describe('what is missing', () => {
  const root = mkdtempSync(join(tmpdir(), 'toolbolt-setup-'))
  after(() => { rmSync(root, { recursive: true, force: true }) })
  let clock = 1_700_000_000
  /** Each file is newer than the one before. */
  const write = (name: string, content: object | string = '') => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), typeof content === 'string' ? content : JSON.stringify(content))
    utimesSync(join(root, name), ++clock, clock)
  }
  const lock = (version: string) => ({ packages: { '': {}, 'node_modules/a': { version }, 'node_modules/b-windows': { version: '1.0.0', optional: true } } })

  test('in an empty checkout everything, in order', () => {
    for (const name of ['Cargo.toml', 'src/lib.rs', 'ts/index.ts']) write(name)
    write('package-lock.json', lock('1.0.0'))
    assert.deepEqual(missing(root), ['install', 'addon', 'typescript'])
  })
  test('nothing once it is there, whatever is missing for other platforms', () => {
    write('node_modules/a/package.json')
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': { version: '1.0.0' } } })
    for (const name of ['binding.cjs', 'binding.d.cts', 'toolbolt.linux-x64-gnu.node', 'dist/registry.js']) write(name)
    assert.deepEqual(missing(root), [])
  })
  test('a changed source, and a changed lock', () => {
    write('ts/index.ts')
    assert.deepEqual(missing(root), ['typescript'])
    write('src/lib.rs')
    assert.deepEqual(missing(root), ['addon', 'typescript'])
    write('package-lock.json', lock('1.0.1'))
    assert.deepEqual(missing(root), ['install', 'addon', 'typescript'])
  })
  test('a package that somebody deleted', () => {
    for (const name of ['toolbolt.linux-x64-gnu.node', 'dist/registry.js']) write(name)
    write('package-lock.json', lock('1.0.0'))
    rmSync(join(root, 'node_modules/a'), { recursive: true })
    assert.deepEqual(missing(root), ['install'])
  })
})

test('without Python it is said which servers are not tested, and why; where all have to be tested it is an error', async () => {
  const { pythonServers }: { pythonServers(name: string, folder: string): { bin?: string; reason?: string } } = await import(new URL('python-servers.mjs', SCRIPTS).href)
  const folder = mkdtempSync(join(tmpdir(), 'toolbolt-python-'))
  try {
    assert.match(pythonServers('mcp-1', folder).reason!, /not installed \(node scripts\/python-servers\.mjs\)/)
    for (const [ci, code] of [['', 0], ['true', 1]] as const) {
      const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(new URL('python-servers.mjs', SCRIPTS)), folder], { encoding: 'utf8', env: { PATH: folder, CI: ci } })
      assert.equal(status, code)
      assert.match(stdout, /^NOT RUN: .*time, git, fetch, fastmcp.* there is no python3 here$/m)
      assert.match(stdout, /^NOT RUN: .*sqlite.* there is no python3 here$/m)
      assert.equal(pythonServers('mcp-1', folder).reason, 'there is no python3 here')
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('an option that npm test does not know is named', () => {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('test.mjs', SCRIPTS)), '--fast'], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /unknown option --fast/)
})
