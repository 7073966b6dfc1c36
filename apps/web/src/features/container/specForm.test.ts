import { containerSpec, placement } from '@zhisuan/contract/cis/container'
import { describe, expect, it } from 'vitest'
import { blankSpec, envOf, specOf, valuesOf } from './specForm.ts'
import { labelOf, labelText, placementOf } from '../../kit/placementForm.ts'
import { isTwice } from '../../kit/isTwice.ts'

const whole = containerSpec.parse({
  image: 'nginx:1.27',
  command: ['nginx', '-g', 'daemon off;'],
  env: [{ name: 'A', value: 'b c' }],
  working_dir: '/srv',
  ports: [{ container_port: 80, host_port: 8080 }],
  mounts: [
    { type: 'volume', name: 'data', path: '/data' },
    { type: 'bind', host_path: '/mnt/x', path: '/x', read_only: true },
    { type: 'config', config_id: '019ab000-0000-7000-8000-000000000001', path: '/etc/app.yaml' },
  ],
  cpu_limit: 0.5,
  memory_limit_bytes: 2 ** 28,
  gpus: 1,
  health: { command: 'curl -f localhost', interval_seconds: 5 },
})

describe('the form of a specification', () => {
  it('says what it was filled from', () => expect(containerSpec.parse(specOf(valuesOf(whole)))).toEqual(whole))

  it('says of what was left empty that the image decides', () => {
    const spec = containerSpec.parse(specOf({ ...blankSpec, image: 'app' }))
    expect(spec).toEqual(containerSpec.parse({ image: 'app' }))
  })

  it('leaves out the check that was turned off, and what another kind of mount was given', () => {
    const spec = specOf({ ...valuesOf(whole), checked: false, mounts: [{ type: 'config', name: 'data', config_id: 'x', path: '/etc/x', read_only: true }] })
    expect(spec.health).toBeNull()
    expect(spec.mounts).toEqual([{ type: 'config', config_id: 'x', path: '/etc/x' }])
  })
})

describe('where it goes', () => {
  const values = { edge_ids: ['019ab000-0000-7000-8000-000000000001'], labels: ['zone=a', 'gpu'], tolerations: ['dedicated'], count: 2 }
  it('is by names or by labels, never both', () => {
    expect(placement.parse(placementOf({ ...values, by: 'nodes' }))).toMatchObject({
      edge_ids: values.edge_ids,
      labels: [],
      count: null,
      tolerations: [{ key: 'dedicated' }],
    })
    expect(placement.parse(placementOf({ ...values, by: 'labels' }))).toMatchObject({
      edge_ids: [],
      labels: [
        { key: 'zone', value: 'a' },
        { key: 'gpu', value: '' },
      ],
      count: 2,
    })
  })
  it('reads labels as it writes them', () => {
    for (const text of ['zone=a', 'gpu']) expect(labelText(labelOf(text))).toBe(text)
    expect(labelOf(' a = b=c ')).toEqual({ key: 'a', value: 'b=c' })
  })
})

it('tells the second of two that are the same', () => {
  const rows = [{ port: 1 }, undefined, { port: 1 }, { port: 2 }]
  expect(rows.map((_, index) => isTwice(rows, index, ({ port }) => String(port)))).toEqual([false, false, true, false])
})

it('reads variables as a file of them has them', () => {
  expect(envOf('# comment\nA=1\r\nexport B = "x y"\nC=\n\nnot a variable\nA=2\nURL=http://a/?b=c\ndiscovery.type=single-node')).toEqual([
    { name: 'A', value: '2' },
    { name: 'B', value: 'x y' },
    { name: 'C', value: '' },
    { name: 'URL', value: 'http://a/?b=c' },
    { name: 'discovery.type', value: 'single-node' },
  ])
})
