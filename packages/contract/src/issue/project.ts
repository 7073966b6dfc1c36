import { z } from 'zod'
import { defineCall, listOf, listQuery, moment } from '../define.ts'
import { keyword } from '../validation.ts'

/** Of the project that every organisation begins with: what belongs to the organisation as a whole is its as well. */
export const firstProjectKey = 'default'

export const project = z.object({
  id: z.uuid(),
  key: z.string(),
  name: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_at: moment,
})
export type Project = z.output<typeof project>

export const projects = {
  list: defineCall({
    id: 'issue.project.list',
    method: 'GET',
    path: '/api/issue/v1/project',
    summary: 'Projects that the user may work in',
    access: 'all',
    query: listQuery(['name', 'key', 'created_at'], { keyword }),
    response: listOf(project),
  }),
} as const
