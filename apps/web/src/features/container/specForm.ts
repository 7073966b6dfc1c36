import type { containers, ContainerSpec } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import type { PlacementValues } from '../../kit/placementForm.ts'
import { lineOf, wordsOf } from './commandLine.ts'

/** What is typed of a mount, whichever it is: fields of the others stay while the person changes their mind. */
export interface MountValues {
  type: 'volume' | 'bind' | 'config'
  name?: string | undefined
  host_path?: string | undefined
  config_id?: string | undefined
  path: string
  read_only: boolean
}

export interface SpecValues {
  image: string
  command: string
  entrypoint: string
  working_dir: string
  env: { name: string; value: string }[]
  ports: { container_port: number | null; host_port: number | null; protocol: 'tcp' | 'udp' }[]
  mounts: MountValues[]
  restart: ContainerSpec['restart']
  cpu_limit: number | null
  memory_limit_bytes: number | null
  gpus: number | null
  checked: boolean
  health: NonNullable<ContainerSpec['health']>
}

/** What the form that makes a deployment holds. */
export interface DeployValues {
  name: string
  description: string
  spec: SpecValues
  placement: PlacementValues
}

export const blankSpec: SpecValues = {
  image: '',
  command: '',
  entrypoint: '',
  working_dir: '',
  env: [],
  ports: [],
  mounts: [],
  restart: 'unless-stopped',
  cpu_limit: null,
  memory_limit_bytes: null,
  gpus: 0,
  checked: false,
  health: { command: '', interval_seconds: 30, timeout_seconds: 10, retries: 3 },
}
export const blankMount: MountValues = { type: 'volume', path: '', read_only: false }
export const blankPort: SpecValues['ports'][number] = { container_port: null, host_port: null, protocol: 'tcp' }

type DeployBody = BodyInput<typeof containers.deploy>

/** The specification that a form's values say. Fields have been judged one by one: what is missing, the server names. */
export function specOf(values: SpecValues): DeployBody['spec'] {
  const { checked, health, command, entrypoint, working_dir, ports, mounts, gpus, ...rest } = values
  return {
    ...rest,
    command: wordsOf(command) ?? [],
    entrypoint: wordsOf(entrypoint) ?? [],
    working_dir: working_dir.trim() === '' ? null : working_dir,
    ports: ports.map(({ container_port, host_port, protocol }) => ({ container_port: container_port ?? 0, host_port: host_port ?? 0, protocol })),
    mounts: mounts.map(mountOf),
    gpus: gpus ?? 0,
    health: checked ? health : null,
  }
}

function mountOf({ type, name = '', host_path = '', config_id = '', path, read_only }: MountValues): NonNullable<DeployBody['spec']['mounts']>[number] {
  switch (type) {
    case 'volume':
      return { type, name, path, read_only }
    case 'bind':
      return { type, host_path, path, read_only }
    case 'config':
      return { type, config_id, path }
  }
}

/** A specification as its form shows it. */
export const valuesOf = (spec: ContainerSpec): SpecValues => ({
  ...spec,
  command: lineOf(spec.command),
  entrypoint: lineOf(spec.entrypoint),
  working_dir: spec.working_dir ?? '',
  mounts: spec.mounts.map((mount) => ({ read_only: false, ...mount })),
  checked: spec.health !== null,
  health: spec.health ?? blankSpec.health,
})

/** Variables from lines `NAME=value`, as in a `.env` file; empty lines and comments are left out. */
export function envOf(text: string): { name: string; value: string }[] {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, name, rest = ''] = /^\s*(?:export\s+)?([^\s=#][^\s=]*)\s*=(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    const value = rest.trim()
    const quoted = /^(["'])(.*)\1$/s.exec(value)
    found.set(name, quoted?.[2] ?? value)
  }
  return [...found].map(([name, value]) => ({ name, value }))
}
