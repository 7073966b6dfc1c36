import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { antdStyles } from './antdStyles.ts'
import { chunks } from './chunks.ts'
import { earlyScript, preloads } from './early.ts'
import { lean } from './lean.ts'
import { neededPages } from './needs.ts'

const server = process.env['ZHISUAN_SERVER'] ?? 'http://127.0.0.1:8080'
const repository = join(import.meta.dirname, '../..')
const pages = await neededPages(import.meta.dirname)
const proxy = { '/api': { target: server, ws: true }, '/terms': { target: server } }

/** The server sends `.br` and `.gz` beside a file as they are: compressed once, here, and better than on the fly. */
const compress: Plugin = {
  name: 'zhisuan-compress',
  apply: 'build',
  writeBundle({ dir = '' }) {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(js|css|svg|json)$/.test(entry.name)) continue
      const path = join(entry.parentPath, entry.name)
      const content = readFileSync(path)
      if (content.length < 1_000) continue
      writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
      writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
    }
  },
}

/** Keeps beside the manifest which modules came into which file, and how much of it they are: `npm run bench -- bytes` tells it. */
const contents: Plugin = {
  name: 'zhisuan-contents',
  apply: 'build',
  generateBundle(_, bundle) {
    // Of styles alone no script is left: they become a file of their own kind.
    const isStyles = (ids: readonly string[]): boolean => ids.length > 0 && ids.every((id) => /\.css(\?|$)/.test(id))
    const files = Object.values(bundle).flatMap((one) => (one.type === 'chunk' && !isStyles(Object.keys(one.modules)) ? [one] : []))
    const of = (modules: (typeof files)[number]['modules']) =>
      Object.fromEntries(Object.entries(modules).map(([id, { renderedLength }]) => [relative(repository, id.split('?', 1)[0] ?? id), renderedLength]))
    this.emitFile({
      type: 'asset',
      fileName: '.vite/contents.json',
      source: JSON.stringify(Object.fromEntries(files.map((one) => [one.fileName, of(one.modules)]))),
    })
  },
}

export default defineConfig({
  plugins: [
    react(),
    lean(import.meta.dirname),
    antdStyles(import.meta.dirname),
    contents,
    preloads(import.meta.dirname, pages),
    earlyScript(import.meta.dirname),
    compress,
  ],
  root: import.meta.dirname,
  build: {
    manifest: true,
    target: 'es2023',
    sourcemap: false,
    chunkSizeWarningLimit: 800,
    // The first script lists all others: their names would be a hundredth of what a page loads. The manifest knows them.
    // The words of locales/zh/words.ts stand in the scripts that say them: nobody loads those of other pages.
    rolldownOptions: {
      output: { chunkFileNames: 'assets/[hash].js', codeSplitting: chunks(import.meta.dirname, pages) },
      optimization: { inlineConst: { mode: 'all', pass: 1 } },
    },
  },
  server: { port: 5173, proxy },
  preview: { port: 4173, proxy },
})
