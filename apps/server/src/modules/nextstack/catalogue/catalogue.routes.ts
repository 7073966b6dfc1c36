import { images, networks } from '@zhisuan/contract/nextstack/vm'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Catalogue } from './catalogue.service.ts'

export const catalogueRoutes = (catalogue: Catalogue): Handler[] => [
  handle(images.list, ({ query }) => catalogue.images(query)),
  handle(networks.list, ({ query }) => catalogue.networks(query)),
]
