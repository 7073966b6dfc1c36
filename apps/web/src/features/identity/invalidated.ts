import type { Call } from '@zhisuan/contract/define'
import { audits } from '@zhisuan/contract/iam/audit'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { projects } from '@zhisuan/contract/issue/project'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { invalidatedByRole } from '../../kit/invalidatedByRights.ts'

/** What is no longer true where an organisation was made, changed, frozen or thawed. */
export const invalidatedByOrganisation: readonly Call[] = [
  organisations.list,
  organisations.get,
  users.list,
  users.get,
  users.sessions,
  invitations.list,
  audits.list,
]
/** Where somebody was made, changed, signed out or deleted. */
export const invalidatedByUser: readonly Call[] = [
  users.list,
  users.get,
  users.sessions,
  organisations.list,
  organisations.get,
  keptProjects.list,
  keptProjects.get,
  keptProjects.members,
  ...invalidatedByRole,
  audits.list,
]
/** Where somebody was given a role, or lost one. */
export const invalidatedByUserRole: readonly Call[] = [users.list, users.get, organisations.get, ...invalidatedByRole]
/** Where somebody was invited, or no longer is. */
export const invalidatedByInvitation: readonly Call[] = [invitations.list]
/** Where a project was made, changed or deleted, or who is in it. */
export const invalidatedByProject: readonly Call[] = [
  keptProjects.list,
  keptProjects.get,
  keptProjects.members,
  keptProjects.contents,
  projects.list,
  organisations.get,
  users.get,
]
/** Where somebody's boundary was set or ended. */
export const invalidatedByBoundary: readonly Call[] = [users.get, organisations.get]
