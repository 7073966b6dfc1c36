import { serveApart } from '../platform/apart.thread.ts'
import { tasks } from './apart.tasks.ts'

serveApart(tasks)
