// Packs what is published: the package itself and one package for each platform's binary. `--out FOLDER` says where to
// (default: the checkout). Prints the paths of the archives as one line of JSON.
//
// The package names its binaries as optional dependencies, in its own version. The checkout's package.json does not, because
// npm would look for them in a registry at every install; so the package is packed from a copy that does.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ROOT, ask, fail } from './run.mjs'

const outIndex = process.argv.indexOf('--out')
const out = resolve(outIndex === -1 ? ROOT : (process.argv[outIndex + 1] ?? fail('--out needs a folder')))
const readManifest = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Left out of the published package.json: they are of use in the checkout alone. */
const PRIVATE = ['scripts', 'devDependencies', 'napi']

function pack(folder) {
  const answer = ask('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out, folder])
  if (answer === undefined) fail(`npm pack failed in ${folder}`)
  // A list until npm 11, later an object by package name.
  const [{ filename }] = Object.values(JSON.parse(answer))
  return join(out, filename)
}

const manifest = readManifest(ROOT)
const stage = mkdtempSync(join(tmpdir(), 'toolbolt-pack-'))
try {
  mkdirSync(out, { recursive: true })
  const platforms = readdirSync(join(ROOT, 'npm')).sort()
  const optionalDependencies = {}
  const archives = []
  for (const platform of platforms) {
    const folder = join(ROOT, 'npm', platform)
    const binary = readManifest(folder)
    if (binary.version !== manifest.version) fail(`npm/${platform} has version ${binary.version}, the package ${manifest.version}; make them equal`)
    if (!existsSync(join(ROOT, binary.main))) fail(`${binary.main} is missing; build it with: npm run build`)
    const copy = join(stage, platform)
    cpSync(folder, copy, { recursive: true })
    cpSync(join(ROOT, binary.main), join(copy, binary.main))
    optionalDependencies[binary.name] = binary.version
    archives.push(pack(copy))
  }
  const copy = join(stage, 'package')
  for (const entry of [...manifest.files, 'README.md', 'LICENSE']) {
    if (!existsSync(join(ROOT, entry))) fail(`${entry} is missing; build it with: npm run build`)
    cpSync(join(ROOT, entry), join(copy, entry), { recursive: true })
  }
  const published = Object.fromEntries(Object.entries(manifest).filter(([key]) => !PRIVATE.includes(key)))
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify({ ...published, optionalDependencies }, null, 2)}\n`)
  console.log(JSON.stringify([pack(copy), ...archives]))
} finally {
  rmSync(stage, { recursive: true, force: true })
}
