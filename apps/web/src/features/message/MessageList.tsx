import { messageCategories, messages, type Message, type MessageCategory } from '@zhisuan/contract/sys/message'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { MessageLink } from './MessageLink.tsx'
import { ReadAllButton } from './ReadAllButton.tsx'
import { useRead } from './useMessages.ts'

const categoryIn = (filters: Readonly<Record<string, string>>): MessageCategory | undefined => messageCategories.find((one) => one === filters['category'])

/** All that one was told. */
export default function MessageList() {
  const { t } = useTranslation('message')
  const { mark } = useRead()
  const { data: unread } = useCall(messages.unread, {}, { silent: true })
  return (
    <ResourceTable
      call={messages.list}
      filters={[
        filter.oneOf('category', t('categories'), messageCategories, (one) => t(`category.${one}`)),
        filter.select('unread', t('unread'), [
          { value: 'true', label: t('unread') },
          { value: 'false', label: t('read') },
        ]),
        filter.keyword(t('search')),
      ]}
      toolbar={(filters) => {
        const category = categoryIn(filters)
        return (
          <ReadAllButton none={unread?.count === 0} {...(category !== undefined && { category })}>
            {category === undefined ? t('markAll') : t('markAllOf', { category: t(`category.${category}`) })}
          </ReadAllButton>
        )
      }}
      columns={[
        col.custom<Message>('text', t('what'), (message) => <MessageLink message={message} />),
        col.text<Message>('category', t('categories'), ({ category }) => t(`category.${category}`), { width: 104 }),
        col.date<Message>('at', t('at'), ({ at }) => at, { sort: true, width: 128 }),
      ]}
      rowActions={({ id, read }) => (read ? [] : [{ key: 'read', label: t('markRead'), call: messages.read, run: () => mark(id) }])}
      nameOf={({ text }) => text}
      empty={{ title: t('empty'), note: t('emptyNote') }}
    />
  )
}
