import MoreOutlined from '@ant-design/icons/es/icons/MoreOutlined'
import Button from 'antd/es/button'
import Dropdown from 'antd/es/dropdown'
import Tooltip from 'antd/es/tooltip'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useNavigate } from 'react-router'
import type { Call } from '@zhisuan/contract/define'
import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { errors } from '@zhisuan/contract/errors'
import { toApiError } from '../api/client.ts'
import { notify, toastError } from '../api/notify.ts'
import { useForbidden } from './allowed.ts'
import { ConfirmDialog, type Confirmation } from './ConfirmDialog.tsx'
import { useDialog, useQuestion, type DrawDialog } from './dialogs.tsx'
import { endKey, usePopupFocus } from './focus.ts'
import './actions.css'

export interface Action {
  readonly key: string
  /** The call that it makes, or that the page or dialog makes to which it leads: it is off where that is refused anyway. Null where it only shows something. */
  readonly call: Pick<Call, 'id' | 'access'> | null
  readonly label: string
  /** What it does. A failure that nobody has told of yet is toasted, so a silent change serves alone and in a batch. */
  readonly run?: () => unknown
  /** What it opens, instead of doing something: drawn over the page until it calls `close`. */
  readonly dialog?: DrawDialog
  /** Where it leads, instead of doing something. */
  readonly href?: string
  readonly danger?: boolean
  /** Why it cannot be done now; null or absent where it can. */
  readonly disabledReason?: string | null
  /** What refuses it whatever it is about: told when it is asked for all the same. */
  readonly refused?: RefusedByPolicy
  /** Asked first; names what will be lost. */
  readonly confirm?: Confirmation
  /** Said when it has succeeded. */
  readonly doneText?: string
}

/** Long enough to read it and to ask for the right. */
const refusedMs = 10_000

/** Runs an action: asks first where it has to, says when it is done. */
function useActionRunner() {
  const navigate = useNavigate()
  const openDialog = useDialog()
  const ask = useQuestion()
  const [busy, setBusy] = useState<string | null>(null)

  const perform = async (action: Action): Promise<boolean> => {
    setBusy(action.key)
    try {
      await action.run?.()
      if (action.doneText !== undefined) notify('success', action.doneText)
      return true
    } catch (thrown) {
      const error = toApiError(thrown)
      // There is no form whose fields could show what was refused.
      if (error.code === errors.fieldsInvalid.code && error.fields.length > 0) for (const field of error.fields) notify('error', field.message, 5_000)
      // What ends a session was said already.
      else if (error.status !== 401) toastError(error)
      return false
    } finally {
      setBusy(null)
    }
  }

  const start = (action: Action): void => {
    if (action.disabledReason !== null && action.disabledReason !== undefined) {
      // With the way to why, and to who may give it.
      if (action.refused !== undefined) notify('error', action.disabledReason, refusedMs, action.refused)
      return
    }
    const { confirm } = action
    if (confirm !== undefined)
      ask((close) => (
        <ConfirmDialog
          confirmation={confirm}
          danger={action.danger ?? false}
          okText={action.label}
          onCancel={close}
          onConfirm={async () => {
            if (await perform(action)) close()
          }}
        />
      ))
    else if (action.dialog !== undefined) openDialog(action.dialog)
    else if (action.href !== undefined) void navigate(action.href)
    else void perform(action)
  }
  return { start, busy }
}

const opensDialog = ({ confirm, dialog }: Action): boolean => confirm !== undefined || dialog !== undefined
const isOff = (action: Action): boolean => action.disabledReason !== null && action.disabledReason !== undefined

/** Off where its call is refused whatever it is about; what its state says comes after that. */
function usePermitted(): (action: Action) => Action {
  const forbidden = useForbidden()
  return (action) => {
    const refusal = action.call === null ? null : forbidden(action.call)
    return refusal === null ? action : { ...action, disabledReason: refusal.reason, refused: refusal.refused }
  }
}

/** Stays reachable by keyboard while it is off, so that the reason can be read. */
function OneAction({
  action,
  look,
  loading,
  disabled = false,
  onStart,
}: {
  readonly action: Action
  readonly look: 'link' | 'default' | 'primary'
  readonly loading: boolean
  readonly disabled?: boolean
  readonly onStart: () => void
}) {
  const off = isOff(action)
  const button = (
    <Button
      type={look}
      size={look === 'link' ? 'small' : 'middle'}
      danger={action.danger === true && !off}
      loading={loading}
      disabled={disabled}
      aria-disabled={off}
      aria-haspopup={opensDialog(action) ? 'dialog' : undefined}
      className={off ? 'zs-off' : ''}
      onClick={onStart}
    >
      {action.label}
    </Button>
  )
  return off ? <Tooltip title={action.disabledReason}>{button}</Tooltip> : button
}

/** One action as a button of its own. */
export function ActionButton({
  action,
  look = 'primary',
  disabled = false,
}: {
  readonly action: Action
  readonly look?: 'default' | 'primary'
  /** While it is not known yet what it would be done to. */
  readonly disabled?: boolean
}) {
  const { start, busy } = useActionRunner()
  const permitted = usePermitted()(action)
  return <OneAction action={permitted} look={look} loading={busy === action.key} disabled={disabled} onStart={() => start(permitted)} />
}

/** The first actions beside each other, the rest behind 更多. */
export function ActionMenu({
  actions,
  shown = 2,
  look = 'link',
  label,
}: {
  readonly actions: readonly Action[]
  readonly shown?: number
  readonly look?: 'link' | 'default'
  /** What the actions are for, said to screen readers. */
  readonly label?: string
}) {
  const { t } = useTranslation('kit')
  const { start, busy } = useActionRunner()
  const focus = usePopupFocus()
  const all = actions.map(usePermitted())
  const first = all.length <= shown + 1 ? all : all.slice(0, shown)
  const rest = all.slice(first.length)
  return (
    <span className={`zs-actions zs-actions-${look}`} role="group" aria-label={label ?? t('action.group')}>
      {first.map((action) => (
        <OneAction key={action.key} action={action} look={look} loading={busy === action.key} onStart={() => start(action)} />
      ))}
      {rest.length > 0 && (
        <Dropdown
          {...focus}
          trigger={['click']}
          menu={{
            // What cannot be taken back stands apart.
            items: rest.flatMap((action, index) => [
              ...(index > 0 && action.danger === true && rest[index - 1]?.danger !== true ? [{ type: 'divider' as const }] : []),
              {
                key: action.key,
                label: <MenuLabel action={action} />,
                danger: action.danger === true && !isOff(action),
                className: isOff(action) ? 'zs-off' : '',
              },
            ]),
            onClick: ({ key, domEvent }) => {
              endKey(domEvent)
              const action = rest.find((one) => one.key === key)
              if (action !== undefined) start(action)
            },
          }}
        >
          <Button type={look} size={look === 'link' ? 'small' : 'middle'} loading={rest.some((action) => action.key === busy)} aria-haspopup="menu">
            {look === 'link' ? (
              t('action.more')
            ) : (
              <>
                {t('action.more')} <MoreOutlined aria-hidden />
              </>
            )}
          </Button>
        </Dropdown>
      )}
    </span>
  )
}

/** In a menu the reason stands below the label: a tooltip on a menu entry is not reached by keyboard. */
function MenuLabel({ action }: { readonly action: Action }): ReactNode {
  if (!isOff(action)) return opensDialog(action) ? <span data-opens="dialog">{action.label}</span> : action.label
  return (
    <span aria-disabled="true">
      {action.label}
      <span className="zs-off-reason">{action.disabledReason}</span>
    </span>
  )
}
