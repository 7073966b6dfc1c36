import { monitorPath } from '@zhisuan/contract/omc/monitor'

/** Where a Prometheus of ours finds what is for it, by its token. */
export const scrapePath = (id: string): string => `${monitorPath}/prometheus/${id}/scrape`
