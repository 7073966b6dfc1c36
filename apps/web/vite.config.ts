import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env['ZHISUAN_SERVER'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react()],
  root: import.meta.dirname,
  build: { manifest: true, target: 'es2023', sourcemap: false, chunkSizeWarningLimit: 800 },
  server: { port: 5173, proxy: { '/api': { target: server, ws: true }, '/terms': server } },
})
