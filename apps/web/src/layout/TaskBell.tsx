import ProfileOutlined from '@ant-design/icons/es/icons/ProfileOutlined'
import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import { tasks } from '@zhisuan/contract/omc/task'
import { Suspense, useEffect, useState } from 'react'
import { useCall } from '../api/hooks.ts'
import { useTranslation } from '../i18n.ts'
import { PageDialogs } from '../kit/dialogs.tsx'
import { usePopupFocus } from '../kit/focus.ts'
import { useUploads } from '../kit/uploads.ts'
import { useMayCall } from '../session/user.ts'
import { usePages } from './pages.ts'
import './frame.css'

/** What a page shows first comes first, and the bell before this. From then on it is asked when some work begins or ends. */
const afterMs = 2_000
const countedMost = 20

/** How much runs of what one began oneself, and what does. */
export function TaskBell() {
  const { t } = useTranslation()
  const { NewestTasks } = usePages()
  const { onOpenChange } = usePopupFocus()
  const may = useMayCall(tasks.list)
  const [later, setLater] = useState(false)
  const [open, setOpen] = useState(false)
  const { data } = useCall(tasks.list, { query: { state: 'open', mine: 'true', page_size: countedMost } }, { silent: true, enabled: may && later })
  const count = (data?.items.length ?? 0) + useUploads().length
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), afterMs)
    return () => clearTimeout(timer)
  }, [])
  if (!may) return null

  const show = (next: boolean): void => {
    onOpenChange(next)
    setOpen(next)
  }
  const shown = data !== undefined && data.next !== null ? `${count}+` : String(count)
  return (
    <span className="frame-tasks">
      {/* What is asked before something is cancelled stays when this closes. */}
      <PageDialogs>
        <Popover
          trigger="click"
          placement="bottomRight"
          open={open}
          onOpenChange={show}
          getPopupContainer={(button) => button.parentElement ?? document.body}
          destroyOnHidden
          content={
            <Suspense fallback={<span className="zs-soft">{t('tasks.loading')}</span>}>
              <NewestTasks onClose={() => show(false)} />
            </Suspense>
          }
        >
          <Button
            type="text"
            icon={<ProfileOutlined aria-hidden />}
            aria-expanded={open}
            aria-label={count === 0 ? t('tasks.bell') : t('tasks.bellOpen', { number: shown })}
          >
            {count > 0 && (
              <span className="frame-bell-count" aria-hidden="true">
                {shown}
              </span>
            )}
          </Button>
        </Popover>
      </PageDialogs>
    </span>
  )
}
