import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { terminals as calls } from '@zhisuan/contract/nextstack/vm'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import { createTerminals } from '../../../platform/terminals.ts'
import type { VmService } from '../vm/vm.service.ts'

/** A login shell: bash where the image has it. Constant: nothing of a request gets in here. */
const loginShell = ['/bin/sh', '-c', 'if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi'] as const

export type TerminalService = ReturnType<typeof createTerminalService>

/** Shells in instances, one of each person in each. */
export function createTerminalService({ openStreams, log }: Pick<Platform, 'openStreams' | 'log'>, parts: { vms: Pick<VmService, 'forTerminal'> }) {
  const { open, ...terminals } = createTerminals({ path: '/api/nextstack/v1/terminals', streams: openStreams, log })
  return {
    ...terminals,
    async open(actor: Actor, vmId: string, body: BodyOf<typeof calls.open>): Promise<ResponseOf<typeof calls.open>> {
      const { vm, engine } = await parts.vms.forTerminal(actor, vmId)
      return open(actor, `${vmId} ${actor.user_id}`, body, () =>
        engine.instances.terminal(vm.engine_name, {
          command: loginShell,
          env: { TERM: 'xterm-256color', HOME: '/root', USER: 'root', LANG: 'C.UTF-8' },
          cwd: '/root',
          columns: body.columns,
          rows: body.rows,
        }),
      )
    },
  }
}
