import { flavors } from '@zhisuan/contract/nextstack/vm'
import type { Db } from '../../../platform/db/database.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { listFlavors } from './flavor.store.ts'

export const flavorRoutes = (db: Db): Handler[] => [handle(flavors.list, ({ query }) => listFlavors(db, query))]
