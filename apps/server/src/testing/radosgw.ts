import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { anyPort } from '@zhisuan/engines/registry/testing'

const execute = promisify(execFile)

export interface RunningS3 {
  readonly bucket: string
  readonly endpoint: string
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  stop(): Promise<void>
}

/** A real S3: Ceph's, of one monitor, one store in memory and one gateway (Debian's radosgw, ceph-mon, ceph-osd, ceph-common). Some 12 s. */
export async function startRadosgw(): Promise<RunningS3> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-s3-'))
  const config = join(folder, 'ceph.conf')
  const [monitor, monitorOld, gateway, firstPort] = await Promise.all([anyPort(), anyPort(), anyPort(), anyPort()])
  for (const name of ['mon', 'osd', 'rgw', 'run', 'log']) mkdirSync(join(folder, name))
  const id = randomUUID()
  const keyring = join(folder, 'keyring')
  writeFileSync(
    config,
    `[global]
fsid = ${id}
mon initial members = a
mon host = [v2:127.0.0.1:${monitor},v1:127.0.0.1:${monitorOld}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms bind port min = ${Math.min(firstPort, 60_000)}
ms bind port max = ${Math.min(firstPort, 60_000) + 200}
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
keyring = ${keyring}
run dir = ${folder}/run
admin socket = ${folder}/run/$cluster-$name.asok
pid file = ${folder}/run/$name.pid
log file = ${folder}/log/$name.log
crash dir = ${folder}/run
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon max pg per osd = 1000
[mon]
mon data = ${folder}/mon
mon cluster log file = ${folder}/log/cluster.log
mon data avail crit = 1
mon data avail warn = 1
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
osd memory target = 939524096
osd class update on start = false
[client.rgw.a]
rgw frontends = beast endpoint=127.0.0.1:${gateway}
rgw data = ${folder}/rgw
`,
  )
  const run = async (program: string, ...args: string[]): Promise<string> => (await execute(program, args, { cwd: folder, timeout: 60_000 })).stdout
  const ceph = (...args: string[]): Promise<string> => run('ceph', '-c', config, '--connect-timeout', '20', ...args)
  const children: ChildProcess[] = []
  const begin = (program: string, ...args: string[]): void => {
    const log = openSync(join(folder, 'log', `${program}.out`), 'w')
    children.push(spawn(program, ['-c', config, ...args], { cwd: folder, stdio: ['ignore', log, log] }))
  }
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const until = async (what: string, is: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await is()); tries++) {
      if (tries > 240) throw new Error(`${what} did not come up`)
      await sleep(250)
    }
  }

  try {
    await run('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
    await run('ceph-authtool', keyring, '--gen-key', '-n', 'client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *')
    await run(
      'monmaptool',
      '--create',
      '--clobber',
      '--fsid',
      id,
      '--addv',
      'a',
      `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${monitorOld}]`,
      join(folder, 'monmap'),
    )
    await run('ceph-mon', '-c', config, '--mkfs', '-i', 'a', '--monmap', join(folder, 'monmap'), '--keyring', keyring)
    copyFileSync(keyring, join(folder, 'mon', 'keyring'))
    begin('ceph-mon', '-i', 'a', '-f')
    await ceph('mon', 'stat')
    const store = randomUUID()
    await ceph('osd', 'new', store)
    await run('ceph-authtool', keyring, '--gen-key', '-n', 'osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *')
    await run('ceph-authtool', keyring, '--gen-key', '-n', 'client.rgw.a', '--cap', 'mon', 'allow rw', '--cap', 'osd', 'allow rwx')
    await ceph('auth', 'import', '-i', keyring)
    await run('ceph-osd', '-c', config, '-i', '0', '--mkfs', '--osd-uuid', store)
    begin('ceph-osd', '-i', '0', '-f')
    await until('the store', async () => (await ceph('osd', 'stat')).includes('1 up'))
    begin('radosgw', '-n', 'client.rgw.a', '-f')
    const endpoint = `http://127.0.0.1:${gateway}`
    await until('the gateway', () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    )
    const credentials = { accessKeyId: `AK${randomBytes(8).toString('hex')}`, secretAccessKey: randomBytes(16).toString('hex') }
    const keys = [`--access-key=${credentials.accessKeyId}`, `--secret-key=${credentials.secretAccessKey}`]
    await run('radosgw-admin', '-c', config, '-n', 'client.admin', 'user', 'create', '--uid=t', '--display-name=T', ...keys)
    const [bucket, region] = ['files', 'us-east-1']
    const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials })
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    client.destroy()
    return { bucket, endpoint, region, credentials, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
