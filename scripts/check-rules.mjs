// Checks the rules of dependency of docs/design.md that a program can check. Names each rule; shows what breaks it.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { ROOT, ask } from './run.mjs'

const MAX_LINES = 400
const CORE = 'crates/core/src'

const read = path => readFileSync(join(ROOT, path), 'utf8')

/** The files of folders, relative to the checkout. A path that is a file stands for itself; one that is missing for none. */
function filesOf(paths, extensions) {
  return paths.flatMap(path => {
    if (!existsSync(join(ROOT, path))) return []
    if (!statSync(join(ROOT, path)).isDirectory()) return [path]
    return readdirSync(join(ROOT, path)).flatMap(name => filesOf([join(path, name)], extensions))
  }).filter(path => extensions.includes(extname(path)))
}

/** Rust without comments. Quotes and raw strings are kept whole, so that `//` in a string is no comment. */
function rustCode(path) {
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|'(?:\\.[^']*|[^'\\])'/g
  return read(path).replace(token, match => (match.startsWith('//') || match.startsWith('/*') ? match.replace(/[^\n]/g, ' ') : match))
}

/** `path:line: text` for each line of code that matches. */
function linesWith(paths, pattern, code = rustCode) {
  return paths.flatMap(path => code(path).split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])))
}

/** The modules of the core that a file uses: `crate::x`, and each `x` of `crate::{x, y::z}`. */
function modulesUsed(path) {
  const code = rustCode(path)
  const used = [...code.matchAll(/\bcrate::([a-z_]+)/g)].map(match => match[1])
  for (const [, group] of code.matchAll(/\bcrate::\{([^;]*)\}/g)) {
    let depth = 0
    let item = ''
    for (const character of `${group},`) {
      if (character === '{') depth += 1
      if (character === '}') depth -= 1
      if (character === ',' && depth === 0) {
        used.push(...(/^\s*([a-z_]+)/.exec(item)?.slice(1) ?? []))
        item = ''
      } else item += character
    }
  }
  return [...new Set(used)]
}

const moduleFiles = module => filesOf([`${CORE}/${module}`, `${CORE}/${module}.rs`], ['.rs'])
const rust = folder => filesOf([folder], ['.rs'])
const outside = (files, ...prefixes) => files.filter(file => !prefixes.some(prefix => file === prefix || file.startsWith(prefix)))

function importsBeyond(module, allowed) {
  return moduleFiles(module).flatMap(path => modulesUsed(path).filter(used => used !== module && !allowed.includes(used)).map(used => `${path} uses crate::${used}`))
}

function importsOf(module, forbidden) {
  return moduleFiles(module).flatMap(path => modulesUsed(path).filter(used => forbidden.includes(used)).map(used => `${path} uses crate::${used}`))
}

function treeOf(crate) {
  const tree = ask('cargo', ['tree', '-p', crate, '-e', 'normal,build,dev', '--prefix', 'none', '--locked'])
  return tree === undefined ? undefined : [...new Set(tree.split('\n').map(line => line.split(' ')[0]).filter(name => name !== ''))]
}

function tracked() {
  const listed = ask('git', ['ls-files', '--cached', '--others', '--exclude-standard'])
  return listed === undefined ? [] : listed.split('\n').filter(path => path !== '' && existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile())
}

const RULES = {
  'the core does not depend on napi'() {
    const tree = treeOf('toolbolt-core')
    return tree === undefined ? ['cargo tree failed'] : tree.filter(name => name.startsWith('napi'))
  },
  'the core does not name napi, Node.js or JavaScript': () => linesWith(rust(CORE), /\bnapi|node\.?js|javascript(?!:)|\bV8\b|(?<!\.)\bJS\b/i),
  'the core has no unsafe code': () => (/#!\[forbid\(unsafe_code\)\]/.test(read(`${CORE}/lib.rs`)) ? [] : [`${CORE}/lib.rs does not forbid unsafe_code`]),
  'only spawn acts between fork and exec, and process alone uses it': () => [
    ...linesWith([...rust(CORE), ...rust('src')], /\bpre_exec\b/),
    ...linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/process/`), /\btoolbolt_spawn\b/),
    ...linesWith(rust('crates/spawn/src'), /\b(?:tokio|napi|toolbolt_core)\b/),
  ],
  'only src/error.rs makes JavaScript errors': () => linesWith(
    outside(rust('src'), 'src/error.rs'),
    /(?<![\w:])(?:napi::|bindgen_prelude::)*Error::(?:new|from|from_reason|from_status)\b|\bJs(?:Type|Range|Syntax)?Error\b|\bthrow(?:_\w+)?\(|\bcreate_error\b/,
  ),
  'only mcp and serve name rmcp': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/mcp/`, `${CORE}/mcp.rs`, `${CORE}/serve/`), /\brmcp\b/),
  'only http names reqwest and rustls': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/http/`, `${CORE}/http.rs`), /\b(?:reqwest|rustls)\b/),
  'only http reaches the network, and only serve is reached from it': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/http/`, `${CORE}/http.rs`, `${CORE}/serve/http.rs`), /\b(?:std|tokio)::net\b/),
  'http, files and surroundings know no tool': () => [...importsBeyond('http', ['surroundings']), ...importsBeyond('files', []), ...importsBeyond('surroundings', [])],
  'only files, notes and process reach the file system': () => linesWith(
    outside([...rust(CORE), ...rust('src')], `${CORE}/files/`, `${CORE}/files.rs`, `${CORE}/builtin/notes/`, `${CORE}/process/`, `${CORE}/process.rs`),
    /\b(?:(?:std|tokio|rustix)::)+(?:fs\b|\{[^}]*\bfs\b)/,
  ),
  'permission, schema, sanitize and prompts use error and name alone': () => ['permission', 'schema', 'sanitize', 'prompts'].flatMap(module => importsBeyond(module, ['error', 'name'])),
  'builtin, mcp and connector do not know registry, gate, execute or each other': () => [
    ...importsOf('builtin', ['registry', 'gate', 'execute', 'mcp', 'connector']),
    ...importsOf('mcp', ['registry', 'gate', 'execute', 'builtin', 'connector']),
    ...importsOf('connector', ['registry', 'gate', 'execute', 'builtin']),
  ],
  'only process starts processes': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/process/`, `${CORE}/process.rs`), /\bprocess::\{?.*\bCommand\b|\bCommand::new\b|\bposix_spawn|\bexecv|\bfork\(/),
  'only notes holds folders': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/builtin/notes/`), /\bcap_(?:std|fs_ext|primitives)\b/),
  'only connector encrypts and reaches the keyring': () => linesWith(outside([...rust(CORE), ...rust('src')], `${CORE}/connector/`), /\b(?:linux_keyutils|chacha20poly1305|argon2|hmac)::/),
  'what ts/ imports is its own or of Node.js': () => filesOf(['ts'], ['.ts']).flatMap(path =>
    [...read(path).matchAll(/^\s*(?:import|export)\b[^'"\n]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm)]
      .map(match => match[1] ?? match[2] ?? match[3]).filter(from => !/^(\.{1,2}\/|node:)/.test(from)).map(from => `${path} imports ${from}`)),
  'adapters do not know each other, and nothing else knows them'() {
    const adapters = Object.keys(JSON.parse(read('package.json')).exports).filter(path => !['.', './package.json'].includes(path)).map(path => path.slice(2))
    return linesWith(filesOf(['ts', 'index.js'], ['.ts', '.js']), new RegExp(`from ['"][^'"]*/(?:${adapters.join('|')})\\.js['"]`), read)
  },
  [`no file is longer than ${MAX_LINES} lines, tests aside`]: () =>
    filesOf(['crates/core/src', 'crates/core/benches', 'crates/spawn/src', 'src', 'ts', 'scripts', 'examples', 'benchmark'], ['.rs', '.ts', '.mjs'])
      .map(path => [path, read(path).trimEnd().split('\n').length]).filter(([, lines]) => lines > MAX_LINES).map(([path, lines]) => `${path} has ${lines}`),
  'no file is a drawer for everything': () => tracked().filter(path => /^(utils?|helpers?|misc|common)\.\w+$/.test(basename(path))),
  'evalexpr stays at 11, since 12 has another licence'() {
    const found = [...read('Cargo.lock').matchAll(/name = "evalexpr"\nversion = "([^"]+)"/g)].map(match => match[1])
    return found.filter(version => !version.startsWith('11.')).map(version => `Cargo.lock has ${version}`)
  },
  'no path of somebody\'s machine': () => tracked().filter(path => !/\.(png|lock)$/.test(path) && path !== 'scripts/check-rules.mjs')
    .flatMap(path => linesWith([path], /(?<![\w.~-])\/(?:work|root)\/[\w.]|\/home\/(?!user\b|somebody\b|alice\b|bob\b)[a-z]\w*\//, read)),
  'the package has no dependencies at run time'() {
    const manifest = JSON.parse(read('package.json'))
    const found = [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.bundleDependencies ?? {})]
    const required = Object.keys(manifest.peerDependencies ?? {}).filter(name => manifest.peerDependenciesMeta?.[name]?.optional !== true)
    return [...found, ...required.map(name => `${name} is a peer that is not optional`)]
  },
  'every version is the same'() {
    const { version } = JSON.parse(read('package.json'))
    const others = {
      'Cargo.toml': /\[workspace\.package\]\nversion = "([^"]+)"/.exec(read('Cargo.toml'))?.[1],
      'package-lock.json': JSON.parse(read('package-lock.json')).version,
      ...Object.fromEntries(filesOf(['npm'], ['.json']).map(path => [path, JSON.parse(read(path)).version])),
    }
    return Object.entries(others).filter(([, other]) => other !== version).map(([path, other]) => `${path} has ${other}, package.json ${version}`)
  },
}

let broken = 0
for (const [rule, check] of Object.entries(RULES)) {
  const found = check()
  console.log(`  ${found.length === 0 ? 'ok  ' : 'FAIL'}  ${rule}`)
  for (const line of found.slice(0, 20)) console.log(`          ${line}`)
  if (found.length > 20) console.log(`          and ${found.length - 20} more`)
  if (found.length > 0) broken += 1
}
if (broken > 0) {
  console.error(`${broken} of ${Object.keys(RULES).length} rules are broken`)
  process.exitCode = 1
}
