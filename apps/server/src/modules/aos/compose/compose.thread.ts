import { serveApart } from '../../../platform/apart.thread.ts'
import { tasks } from './compose.apart.ts'

serveApart(tasks)
