import type { Message } from '@zhisuan/contract/sys/message'
import { Link } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useMessagePage, useRead } from './useMessages.ts'
import './message.css'

/** What was told, leading to what it is about, and read by that. That it is unread is said by a word, a dot and bold letters. Needs the messages of `message`. */
export function MessageLink({ message, onFollow }: { readonly message: Message; readonly onFollow?: () => void }) {
  const { t } = useTranslation('message')
  const { follow } = useRead()
  const to = useMessagePage()(message)
  const text = (
    <>
      <span className="message-kind">
        {!message.read && (
          <>
            <span className="message-dot" aria-hidden="true" />
            <span className="zs-hidden">{t('unread')}</span>
          </>
        )}
        {t(`kind.${message.kind}`)}
      </span>
      <span className="message-text">{message.text}</span>
    </>
  )
  const open = (): void => {
    follow(message)
    onFollow?.()
  }
  const look = message.read ? 'message-link' : 'message-link message-unread'
  return to === null ? (
    <button type="button" className={look} onClick={open}>
      {text}
    </button>
  ) : (
    <Link to={to} className={look} onClick={open}>
      {text}
    </Link>
  )
}
