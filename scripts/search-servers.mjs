// Installs the MCP servers whose tools __test__/tool-search-quality.test.ts searches, in exact versions, below target/search-servers. They are large and for this
// measurement alone, so nothing else installs them; without them the test is skipped. Nothing of them reaches a service: they only list their tools.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT, run } from './run.mjs'

const FOLDER = join(ROOT, 'target', 'search-servers')
const dependencies = {
  '@coo-quack/calc-mcp': '2.1.1', '@cyanheads/git-mcp-server': '2.15.3', '@notionhq/notion-mcp-server': '2.5.2', '@playwright/mcp': '0.0.83',
  '@zereight/mcp-gitlab': '2.1.64', 'mcp-server-kubernetes': '4.1.7',
}
const manifest = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`
const complete = join(FOLDER, 'complete.json')

/** The folder of their programs, or nothing where they are not installed in these versions. */
export function searchServers() {
  return existsSync(complete) && readFileSync(complete, 'utf8') === manifest ? join(FOLDER, 'node_modules', '.bin') : undefined
}

if (process.argv[1] === fileURLToPath(import.meta.url) && searchServers() === undefined) {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), manifest)
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER })
  writeFileSync(complete, manifest)
}
