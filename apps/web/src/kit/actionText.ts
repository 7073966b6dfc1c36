import type { Service } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import { textsOf } from '../i18n.ts'

const t = textsOf('action')

// Names come from the server: that each known one has its text is a test. Asked one by one, as hundreds are shown at once.
const named = (key: string, otherwise: string): string => t(key as 'services.iam', { defaultValue: otherwise })

/** What people call a family of calls, or what another service was named; of an unknown one its id. */
export const serviceText = (id: string, known: readonly Pick<Service, 'id' | 'name'>[] = []): string =>
  named(`services.${id}`, known.find((service) => service.id === id)?.name ?? id)

/** What `nextstack.vm.start` does: 启动. */
export function verbText(action: string): string {
  const verb = action.split('.').slice(2).join('.')
  // What a word means may depend on what it is done to.
  return named(`only.${action.replaceAll('.', '_')}`, named(`verbs.${verb}`, verb))
}

/** All of it: 云主机 · 启动. */
export const actionText = (action: string): string => `${kindText(action)} · ${verbText(action)}`

/** Words that people search by and the one that stands here for each; longer ones before what they begin with. */
const sameWords: readonly (readonly [meant: string, said: RegExp])[] = [
  ['云主机', /云服务器|云主机|虚拟机|实例/g],
  ['云硬盘', /云硬盘|云盘|硬盘|磁盘/g],
  ['公网ip', /弹性公网ip|弹性ip|浮动ip|公网ip/g],
  ['专有网络', /专有网络|虚拟私有云|私有网络/g],
  ['创建', /创建|新建|新增|购买|申请/g],
  ['删除', /删除|移除|销毁/g],
  ['启动', /启动|开机/g],
  ['停止', /停止|关机/g],
  ['修改', /修改|编辑|更新|变更/g],
]

const plain = (text: string): string => sameWords.reduce((said, [meant, words]) => said.replace(words, meant), text.toLowerCase().replaceAll(/[\s·]/g, ''))

/** Whether a search means an action: by its id, or by what it does to what, in whatever order and by whichever word for it. */
export function matchesAction(action: string, typed: string): boolean {
  const [wanted, kind, verb] = [plain(typed), plain(kindText(action)), plain(verbText(action))]
  if (action.toLowerCase().includes(typed.trim().toLowerCase()) || `${kind}${verb}`.includes(wanted)) return true
  return wanted.includes(kind) && verb.includes(wanted.replace(kind, ''))
}
