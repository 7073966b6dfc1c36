import { randomUUID } from 'node:crypto'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { toMinor } from '@zhisuan/contract/bill/money'
import { computeInstances } from '@zhisuan/contract/compute/instance'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import { computeRouters } from '@zhisuan/contract/compute/router'
import { computeVolumeBackups, computeVolumes } from '@zhisuan/contract/compute/volume'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { ledger } from '../ledger/ledger.service.ts'

describe('a suspended organisation, on a cloud of the second family', () => {
  let app: TestApp
  let token: string
  let admin: string
  beforeAll(async () => {
    app = await testApp()
    admin = (await someone(app, { kind: 1 })).token
    const tenant = await someone(app)
    token = tenant.token
    const params = { id: tenant.bp_id ?? '' }
    await call(app, arrearsPolicies.setException, {
      token: admin,
      params,
      body: { low_balance: '100', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: false, resume: true },
    })
    await app.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: params.id, amount: toMinor('1'), key: uuidv7() }))
    await vi.waitFor(async () => expect((await call(app, standings.get, { token, params })).state).toBe('suspended'), { interval: 50 })
  })
  afterAll(() => app.close())

  const id = randomUUID()
  const params = () => ({ cloud_id: randomUUID(), id, port_id: id, volume_id: id, server_id: id })
  const answer = (declared: Call, body: unknown, who = token) =>
    refused(app, declared, { token: who, params: params() as never, ...(body !== undefined && { body: body as never }) })

  const begun: [Call, unknown?][] = [
    [computeInstances.start],
    [computeInstances.unpause],
    [computeInstances.resume],
    [computeInstances.unshelve],
    [computeInstances.reboot, { type: 'soft' }],
    [computeInstances.resize, { flavor_id: id }],
    [computeInstances.attachVolume, { volume_id: id }],
    [computeInstances.attachInterface, { network_id: id }],
    [computeInstances.snapshot, { name: 'snapshot' }],
    [computeVolumes.create, { name: 'volume', size_bytes: 2 ** 30 }],
    [computeVolumes.grow, { size_bytes: 2 ** 31 }],
    [computeVolumes.attach, { server_id: id }],
    [computeVolumes.retype, { type: 'other' }],
    [computeVolumeBackups.restore, { volume_id: id, overwrite: true }],
    [computeRouters.addInterface, { subnet_id: id }],
    [recycledInstances.restore],
  ]
  it.each(begun.map(([declared, body]) => ({ name: declared.id, declared, body })))('begins nothing: $name', async ({ declared, body }) => {
    expect(await answer(declared, body)).toMatchObject({ status: errors.balanceInsufficientForOrder.status, code: errors.balanceInsufficientForOrder.code })
    // There is no such cloud: asked is only who may be.
    expect(await answer(declared, body, admin)).toMatchObject({ status: 404 })
  })

  it('sends no file of an image it has announced; the attempt is in the audit log', async () => {
    const object_id = randomUUID()
    const put = (who: string) =>
      app.http.inject({
        method: 'PUT',
        url: `/api/compute/v1/clouds/${randomUUID()}/images/${object_id}/file`,
        headers: { authorization: `Bearer ${who}`, 'content-type': 'application/octet-stream' },
        payload: Buffer.from('x'),
      })
    expect((await put(token)).json()).toMatchObject({ code: errors.balanceInsufficientForOrder.code })
    expect((await put(admin)).statusCode).toBe(404)
    const entries = await app.platform.db.selectFrom('audit_log').select(['call', 'code']).where('object_id', '=', object_id).orderBy('number').execute()
    expect(entries).toEqual([
      { call: 'compute.image.upload', code: errors.balanceInsufficientForOrder.code },
      { call: 'compute.image.upload', code: errors.notFound.code },
    ])
  })

  const ended: [Call, unknown?][] = [
    [computeInstances.stop],
    [computeInstances.pause],
    [computeInstances.shelve],
    [computeInstances.delete],
    [computeInstances.recycle],
    [computeInstances.detachVolume],
    [computeInstances.detachInterface],
    [computeInstances.update, { name: 'other' }],
    [computeVolumes.detach, { server_id: id }],
    [computeVolumes.delete],
    [computeRouters.clearGateway],
    [recycledInstances.purge],
  ]
  it.each(ended.map(([declared, body]) => ({ name: declared.id, declared, body })))('ends what it has: $name', async ({ declared, body }) => {
    expect(await answer(declared, body)).toMatchObject({ status: 404 })
  })
})
