import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useReturnFocus } from './focus.ts'
import './confirm.css'

export interface Confirmation {
  readonly title: string
  /** What will be lost or changed, in the person's words. */
  readonly body: ReactNode
  /** Has to be typed first, for what cannot be undone. */
  readonly typeToConfirm?: string
  /** What the other button says where 取消 could be taken for the action itself. */
  readonly keepText?: string
}

/** Asks before something happens; stays open, with what was typed, when it fails. */
export function ConfirmDialog({
  confirmation,
  danger,
  okText,
  onConfirm,
  onCancel,
}: {
  readonly confirmation: Confirmation
  readonly danger: boolean
  readonly okText: string
  readonly onConfirm: () => Promise<void>
  readonly onCancel: () => void
}) {
  const { t } = useTranslation('kit')
  useReturnFocus()
  const [typed, setTyped] = useState('')
  const [running, setRunning] = useState(false)
  const ready = confirmation.typeToConfirm === undefined || typed.trim() === confirmation.typeToConfirm

  const go = async (): Promise<void> => {
    if (!ready || running) return
    setRunning(true)
    try {
      await onConfirm()
    } finally {
      setRunning(false)
    }
  }

  return (
    <Modal
      open
      title={confirmation.title}
      okText={okText}
      okButtonProps={{ danger, disabled: !ready }}
      {...(confirmation.keepText !== undefined && { cancelText: confirmation.keepText })}
      confirmLoading={running}
      onOk={go}
      onCancel={onCancel}
      mask={{ closable: false }}
      width={480}
    >
      <div className="zs-confirm-body">{confirmation.body}</div>
      {confirmation.typeToConfirm !== undefined && (
        <label className="zs-confirm-type">
          <span>
            {t('confirm.type')} <strong>{confirmation.typeToConfirm}</strong>
          </span>
          <Input autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} onPressEnter={go} autoComplete="off" />
        </label>
      )}
    </Modal>
  )
}
