import type { StarterKey } from '@zhisuan/contract/aos/starters'
import { paths, withQuery } from '../../paths.ts'

/** Forms and single versions have no rows in the table of routes: the address says by its query what is meant. */
export const stackPaths = {
  /** The form that deploys an application. */
  deploy: (templateId?: string): string => withQuery(paths.container.application.list(), { deploy: 'new', template: templateId }),
  stack: (id: string, name: string, tab?: string): string => withQuery(paths.container.application.services(id, name), { tab }),
  /** The form that changes what a stack runs. */
  update: (id: string, name: string): string => withQuery(paths.container.application.services(id, name), { edit: 1 }),
  /** A version of a template, or what the query says of it. */
  version: (id: string, edit?: true): string => withQuery(paths.container.template.version(), { id, ...(edit === true && { edit: 1 }) }),
  /** A template that is made, or another version of one. */
  newVersion: (from?: string): string => withQuery(paths.container.template.version(), { from }),
  /** A template that begins as one of ours. */
  starter: (key: StarterKey): string => withQuery(paths.container.template.version(), { starter: key }),
} as const
