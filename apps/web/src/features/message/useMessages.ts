import { messages, type Message, type MessageCategory } from '@zhisuan/contract/sys/message'
import { useChange } from '../../api/hooks.ts'
import { pageOf } from '../../kinds.ts'
import { useKeeping } from '../../session/keeping.ts'

const stale = [messages.list, messages.unread]

/** Marks messages as read. Who only follows a link is not stopped by a failure, which is toasted. */
export function useRead() {
  const read = useChange(messages.read, { invalidates: stale })
  return {
    /** @returns once they are */
    mark: (...ids: string[]): Promise<unknown> => read.mutateAsync({ body: { ids } }),
    /** On the way to what it is about. */
    follow: (message: Message): void => {
      if (!message.read) read.mutate({ body: { ids: [message.id] } })
    },
  }
}

/** Marks all as read, or all of a category. */
export function useReadAll() {
  const all = useChange(messages.readAll, { invalidates: stale })
  return { busy: all.isPending, mark: (category?: MessageCategory): void => all.mutate({ body: { ...(category !== undefined && { category }) } }) }
}

/** Where what a message is about is looked at, by whoever reads it. */
export function useMessagePage(): (message: Message) => string | null {
  const { pages } = useKeeping()
  return ({ about }) => pageOf(about.kind, about, pages)
}
