import { buildApp } from './app.ts'
import { ConfigError, readConfig, type Config } from './platform/config.ts'
import { DatabaseUnusable } from './platform/db/embedded.ts'

/** Reads the configuration, builds the app, listens. Nothing else. */
async function main(): Promise<void> {
  const config: Config = readConfig(process.env)
  const app = await buildApp(config)
  const stop = (signal: string) => {
    app.platform.log.info({ signal }, 'stopping')
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        app.platform.log.fatal({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)

  await app.http.listen({ host: config.HOST, port: config.PORT })
  const address = app.http.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.PORT
  const password = app.firstPassword === null ? '' : `\n  管理员 admin，一次性密码 ${app.firstPassword}\n  首次登录后须立即修改，此密码不会再次显示。\n`
  // At once, so that no line of the log comes between: it goes the same way.
  process.stdout.write(`\n  智算云  ${config.PUBLIC_URL ?? `http://localhost:${port}`}\n${password}\n`)
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST
  await app.listening(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof DatabaseUnusable
  const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)
  const hint = !known && error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' ? '\nThe port is taken: set PORT.' : ''
  process.stderr.write(`${text}${hint}\n`)
  process.exit(1)
})
