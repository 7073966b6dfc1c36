import BellOutlined from '@ant-design/icons/es/icons/BellOutlined'
import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import { messages, unreadMost } from '@zhisuan/contract/sys/message'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useCall } from '../api/hooks.ts'
import { useTranslation } from '../i18n.ts'
import { usePopupFocus } from '../kit/focus.ts'
import { useMayCall } from '../session/user.ts'
import { isNews } from './bellNews.ts'
import { usePages } from './pages.ts'
import './frame.css'

/** What a page shows first comes first: the number is asked after it. From then on it is asked when something was told. */
const afterMs = 1_500

/** How many messages are unread, and the newest of them. */
export function MessageBell() {
  const { t } = useTranslation()
  const { NewestMessages } = usePages()
  const { onOpenChange } = usePopupFocus()
  const may = useMayCall(messages.unread)
  const [later, setLater] = useState(false)
  const [open, setOpen] = useState(false)
  const { data } = useCall(messages.unread, {}, { silent: true, enabled: may && later })
  const count = data?.count ?? 0
  const said = useSaid(data?.count ?? null)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), afterMs)
    return () => clearTimeout(timer)
  }, [])
  if (!may) return null

  const show = (next: boolean): void => {
    onOpenChange(next)
    setOpen(next)
  }
  const shown = count >= unreadMost ? `${unreadMost - 1}+` : String(count)
  return (
    <span className="frame-bell">
      {/* Beside its button, where the Tab key goes next. */}
      <Popover
        trigger="click"
        placement="bottomRight"
        open={open}
        onOpenChange={show}
        getPopupContainer={(button) => button.parentElement ?? document.body}
        // Opened again, it is what is newest then.
        destroyOnHidden
        content={
          <Suspense fallback={<span className="zs-soft">{t('messages.loading')}</span>}>
            <NewestMessages unread={count} onClose={() => show(false)} />
          </Suspense>
        }
      >
        <Button
          type="text"
          icon={<BellOutlined aria-hidden />}
          aria-expanded={open}
          aria-label={count === 0 ? t('messages.bell') : t('messages.bellUnread', { number: shown })}
        >
          {count > 0 && (
            <span className="frame-bell-count" aria-hidden="true">
              {shown}
            </span>
          )}
        </Button>
      </Popover>
      <span className="zs-hidden" role="status">
        {said !== null && t('messages.came', { number: said >= unreadMost ? `${unreadMost - 1}+` : String(said) })}
      </span>
    </span>
  )
}

/** The number that is said aloud: that of the last time when there was news. */
function useSaid(count: number | null): number | null {
  const [said, setSaid] = useState<number | null>(null)
  const former = useRef<number | null>(null)
  const saidAt = useRef<number | null>(null)
  useEffect(() => {
    if (count === null) return
    if (isNews(former.current, count, saidAt.current, Date.now())) {
      saidAt.current = Date.now()
      setSaid(count)
      // Once some are read it is no longer true, and whoever reads the page finds it here.
    } else if (former.current !== null && count < former.current) setSaid(null)
    former.current = count
  }, [count])
  return said
}
