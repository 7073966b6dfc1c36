import { serveApart } from '../platform/apart.process.ts'
import { tasks } from './apart.tasks.ts'

serveApart(tasks)
