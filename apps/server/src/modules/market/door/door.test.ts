import { randomUUID } from 'node:crypto'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createEntering } from '../inside.ts'
import { createDoor, failuresMost, newDoorKey, type Door } from './door.ts'

/** What the door lets in is tried with OpenSSH's client on a real machine (tests/engines). */
describe('the SSH door', () => {
  let app: TestApp
  let door: Door
  let port: number
  const privateKey = newDoorKey()
  beforeAll(async () => {
    app = await testApp()
    const nobody = async () => null
    const parts = {
      rented: { enter: async () => expect.fail('nobody is inside') },
      entering: createEntering(app.platform),
      personOf: nobody,
      personOfKey: nobody,
    }
    door = createDoor({ ...app.platform, config: { ...app.config, SSH_PORT: 0 } }, parts)
    await door.start()
    port = door.port() ?? 0
  })
  afterAll(async () => {
    door.drain()
    await app.close()
  })
  /** What a client is told that comes with a key that nobody registered. */
  const enter = (localAddress: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const client = new ssh2.Client()
      client.on('ready', () => reject(new Error('let in')))
      client.on('error', (error) => resolve(error.message))
      client.on('close', () => resolve('closed'))
      client.connect({ host: '127.0.0.1', port, localAddress, username: randomUUID(), privateKey })
    })

  it('has a key that can be read, whichever it is', () => {
    for (let time = 0; time < 2_000; time++) expect(ssh2.utils.parseKey(newDoorKey())).not.toBeInstanceOf(Error)
  })

  it('lets nobody in by a key that nobody registered, and hears an address no more that comes again and again', async () => {
    for (let time = 0; time < failuresMost; time++) expect(await enter('127.0.0.1')).toContain('authentication')
    expect(await enter('127.0.0.1')).not.toContain('authentication')
    // Others are heard meanwhile.
    expect(await enter('127.0.0.2')).toContain('authentication')
  })
})
