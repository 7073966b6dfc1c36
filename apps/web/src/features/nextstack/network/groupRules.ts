import type { Call } from '@zhisuan/contract/define'
import { securityGroups, type SecurityGroup } from '@zhisuan/contract/nextstack/security-group'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `group.status` in the messages. */
export const groupTones: Readonly<Record<SecurityGroup['status'], StatusTone>> = { active: 'good', applying: 'busy', error: 'bad' }

/** What is no longer true after anything was done to a group. */
export const invalidatedByGroup: readonly Call[] = [securityGroups.list, securityGroups.get]

/** It will look different soon. */
export const isPassing = ({ status }: Pick<SecurityGroup, 'status'>): boolean => status === 'applying'
