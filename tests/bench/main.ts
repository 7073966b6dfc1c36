import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { benchAgent } from './agent.ts'
import { benchBilling } from './billing.ts'
import { benchBytes } from './bytes.ts'
import { benchCalls } from './calls.ts'
import { benchChange } from './change.ts'
import { benchCreate } from './create.ts'
import { benchFiles } from './files.ts'
import { benchFleet } from './fleet.ts'
import { benchList } from './list.ts'
import { benchMarket } from './market.ts'
import { benchOpenStack } from './openstack.ts'
import { benchPages } from './pages.ts'
import { benchPolicy } from './policy.ts'
import { benchPush } from './push.ts'
import { benchReach } from './reach.ts'
import { benchRegistry } from './registry.ts'
import { benchResources } from './resources.ts'
import { benchSplit } from './split.ts'
import { benchStart } from './start.ts'

/** A figure against its floor, measured in the same run. */
export interface Figure {
  name: string
  ours: string
  floor: string
  /** Ratio or plain value, and what it is held against. */
  value: number
  bar: string
  met: boolean
}

const data = temporaryFolder('bench')
const only = process.argv.slice(2)
const parts = {
  start: benchStart,
  list: benchList,
  resources: benchResources,
  change: benchChange,
  create: benchCreate,
  bytes: benchBytes,
  pages: benchPages,
  agent: benchAgent,
  fleet: benchFleet,
  policy: benchPolicy,
  billing: benchBilling,
  files: benchFiles,
  registry: benchRegistry,
  push: benchPush,
  market: benchMarket,
  reach: benchReach,
  split: benchSplit,
  calls: benchCalls,
  openstack: benchOpenStack,
}
const figures: Figure[] = []
try {
  for (const [name, run] of Object.entries(parts)) {
    if (only.length === 0 || only.includes(name)) figures.push(...(await run(join(data.path, name))))
  }
} finally {
  data.remove()
}
for (const { name, ours, floor, value, bar, met } of figures) {
  console.log(`${met ? 'met   ' : 'MISSED'} ${name}: ${ours} against ${floor} = ${value.toFixed(2)} (bar ${bar})`)
}
if (figures.some(({ met }) => !met)) process.exitCode = 1
