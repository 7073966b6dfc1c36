import type { Container } from '@zhisuan/contract/cis/container'
import { paths } from '../paths.ts'

/** The page of a container: one of a stack is a part of its application. */
export const pageOf = ({ id, service }: Pick<Container, 'id' | 'service'>): string =>
  (service === null ? paths.container.deployment : paths.container.application).containerDetail(id)

/** `8080 → 80/tcp`: a port of the node, and where it leads. */
export const portText = ({ host_port, container_port, protocol }: Container['ports'][number]): string => `${host_port} → ${container_port}/${protocol}`
