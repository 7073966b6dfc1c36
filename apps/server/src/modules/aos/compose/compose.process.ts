import { serveApart } from '../../../platform/apart.process.ts'
import { tasks } from './compose.apart.ts'

serveApart(tasks)
