import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from 'react-router'
import { z } from 'zod'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { copyText } from '../../kit/copy.ts'
import { dateTime } from '../../kit/format.ts'
import { ApiError, noAnswer, toApiError } from '../../api/client.ts'
import { paths } from '../../paths.ts'
import './public.css'

/** Served by development servers only, so it is not in the contract. */
const inbox = z.object({
  items: z.array(z.object({ channel: z.string(), address: z.string(), purpose: z.string(), text: z.string(), created_at: z.string() })),
})

async function readInbox({ signal }: { signal: AbortSignal }): Promise<z.output<typeof inbox>> {
  const response = await fetch('/api/dev/v1/inbox', { signal })
  if (!response.ok) throw new ApiError({ status: response.status, code: noAnswer.foreign, message: `HTTP ${response.status}` })
  return inbox.parse(await response.json())
}

/** Codes that a development server did not really send. For developers, so its few words are not in the messages. */
export default function DevelopmentInboxPage() {
  const { data, error, refetch } = useQuery({ queryKey: ['development.inbox'], queryFn: readInbox, refetchInterval: 2_000, meta: { silent: true } })
  // A server that sends its codes has no inbox, and this page is not one of its.
  if (error !== null && toApiError(error).status === 404) return <Navigate to={paths.notFound()} replace />
  return (
    <main id="main" className="public-inbox">
      <div className="zs-above">
        <h1>开发收件箱</h1>
        <Link to={paths.login()}>返回登录</Link>
      </div>
      <div className="zs-card">
        {error !== null && <ErrorPanel error={toApiError(error)} onRetry={() => void refetch()} />}
        {data?.items.length === 0 && <p className="zs-soft">还没有消息。</p>}
        {data?.items.map((item) => {
          const code = /\d{6}/.exec(item.text)?.[0]
          return (
            <p key={`${item.created_at}${item.address}`}>
              <span className="zs-number">{dateTime(item.created_at)}</span> {item.channel} {item.address} {item.purpose}
              <br />
              {item.text}{' '}
              {code !== undefined && (
                <button type="button" className="zs-linkbutton" onClick={() => void copyText(code)}>
                  复制 {code}
                </button>
              )}
            </p>
          )
        })}
      </div>
    </main>
  )
}
