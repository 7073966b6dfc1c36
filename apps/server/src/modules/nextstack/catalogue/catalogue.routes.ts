import { images, networks } from '@zhisuan/contract/nextstack/vm'
import { scopeOf } from '../../../platform/auth/actor.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Catalogue } from './catalogue.service.ts'

export const catalogueRoutes = (catalogue: Catalogue): Handler[] => [
  handle(images.list, ({ actor, query }) => catalogue.images(scopeOf(actor), query)),
  handle(networks.list, ({ query }) => catalogue.networks(query)),
]
