import type { Call } from './define.ts'
import { accounts } from './bill/account.ts'
import { clouds } from './cmp/cloud.ts'
import { projects } from './issue/project.ts'
import { flavors, images, networks, terminals, vms } from './nextstack/vm.ts'
import { terms } from './root/terms.ts'
import { configs, licences, system } from './sys/sys.ts'
import { auth, verification } from './ums/auth.ts'
import { consultations } from './ums/consultation.ts'
import { organisations, users } from './ums/user.ts'

/** Every call there is, by family and resource. What is not here cannot be served. */
export const calls = {
  sys: { system, configs, licences },
  ums: { auth, verification, users, organisations, consultations },
  bill: { accounts },
  cmp: { clouds },
  nextstack: { vms, terminals, flavors, images, networks },
  issue: { projects },
  root: { terms },
} as const

/** The same as a flat list, for sweeps: binding, OpenAPI, permission matrix, fuzz test. */
export const allCalls: readonly Call[] = Object.values(calls).flatMap((family) =>
  Object.values(family).flatMap((resource: Readonly<Record<string, Call>>) => Object.values(resource)),
)
