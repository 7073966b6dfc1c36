import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTranslation } from '../i18n.ts'
import { constants } from '@zhisuan/contract/constants'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { licences } from '@zhisuan/contract/sys/sys'
import { request, type ApiError } from '../api/client.ts'
import { notify } from '../api/notify.ts'
import { licenceNotice } from './licence.ts'
import type { CurrentUser } from './user.ts'

/**
 * Kinds 0 and 1 are told, once for a session, when the licence has ended or will within 60 days.
 * Answers what failed: a licence that cannot be read ends the session (section 7).
 */
export function useLicenceCheck(user: CurrentUser | null): ApiError | null {
  const { t } = useTranslation()
  const { data, error } = useQuery({
    queryKey: [licences.get.id, {}],
    queryFn: ({ signal }) => request(licences.get, { signal }),
    enabled: user !== null && isPlatformKind(user.kind) && !user.must_change_password,
    staleTime: Infinity,
    meta: { silent: true },
  })
  const told = useRef<string | null>(null)
  useEffect(() => {
    if (user === null) {
      told.current = null
      return
    }
    if (data === undefined || told.current === user.id) return
    const notice = licenceNotice(data.end_timestamp, Date.now())
    if (notice === null) return
    told.current = user.id
    if (notice.kind === 'expired') notify('error', t('licence.expired'), constants.licenceToastMs)
    else notify('warning', t('licence.ending', { days: notice.days }), constants.licenceToastMs)
  }, [data, user, t])
  // The client rejects with nothing else.
  return user === null ? null : (error as ApiError | null)
}
