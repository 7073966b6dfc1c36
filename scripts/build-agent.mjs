import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'vite'

const agent = fileURLToPath(new URL('../apps/agent', import.meta.url))
const { values } = parseArgs({
  options: {
    version: { type: 'string', default: JSON.parse(readFileSync(join(agent, 'package.json'), 'utf8')).version },
    out: { type: 'string', default: join(agent, 'dist') },
  },
})
if (!/^\d{1,4}\.\d{1,4}\.\d{1,4}(-[a-z0-9.]{1,32})?$/.test(values.version)) throw new Error(`--version: ${values.version} is no version such as 1.2.3`)
const outDir = resolve(values.out)

await build({
  root: agent,
  configFile: false,
  logLevel: 'warn',
  define: { bundledVersion: JSON.stringify(values.version) },
  // Everything comes along; these two are optional, native, and looked for by ws.
  ssr: { noExternal: true, external: ['bufferutil', 'utf-8-validate'], target: 'node' },
  build: {
    ssr: 'src/main.ts',
    target: 'node22',
    outDir,
    emptyOutDir: false,
    minify: true,
    rolldownOptions: { output: { format: 'es', entryFileNames: 'agent.mjs', codeSplitting: false } },
  },
})

const bundle = readFileSync(join(outDir, 'agent.mjs'))
const sha256 = createHash('sha256').update(bundle).digest('hex')
writeFileSync(join(outDir, 'agent.mjs.sha256'), `${sha256}  agent.mjs\n`)
writeFileSync(join(outDir, 'agent.json'), `${JSON.stringify({ version: values.version, sha256, size_bytes: bundle.length })}\n`)
console.log(`agent ${values.version}: ${bundle.length} bytes, SHA-256 ${sha256}`)
