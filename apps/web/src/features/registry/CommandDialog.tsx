import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import Skeleton from 'antd/es/skeleton'
import Tabs from 'antd/es/tabs'
import { errors } from '@zhisuan/contract/errors'
import { registries, registryCommands } from '@zhisuan/contract/ims/registry'
import type { ResponseOf } from '@zhisuan/contract/define'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { useDialog } from '../../kit/dialogs.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { CodeLines } from './CodeLines.tsx'
import './registry.css'

const PasswordDialog = lazy(() => import('./PasswordDialog.tsx'))

/** Of which image the lines are; of none while there is none: they name one that has to be replaced. */
export interface CommandOf {
  readonly registry: { readonly id: string }
  readonly project?: string
  readonly repository?: string
  readonly tag?: string
}

const parts = ['trust', 'login', 'push', 'pull'] as const
type Tool = ResponseOf<typeof registryCommands.create>['items'][number]

/**
 * The lines by which programs sign in at a registry, push to it and pull from it. Who has no password for the registries yet
 * is asked for one first.
 */
export default function CommandDialog({ onClose, ...of }: Dialog<CommandOf>) {
  const { t } = useTranslation('mirror')
  const open = useDialog()
  const { registry, project = placeholder, repository, tag } = of
  const { data, error, refetch } = useCall(
    registryCommands.create,
    { body: { registry_id: registry.id, project, ...(repository !== undefined && { repository }), ...(tag !== undefined && { tag }) } },
    { silent: true },
  )
  const insecure = useCall(registries.get, { params: { id: registry.id } }, { silent: true }).data?.insecure ?? false
  const setPassword = (first: boolean, close: () => void) => (
    <PasswordDialog first={first} onSet={() => open((closeLines) => <CommandDialog {...of} onClose={closeLines} />)} onClose={close} />
  )
  if (error?.code === errors.repositoryPasswordUnset.code) return setPassword(true, onClose)
  return (
    <Modal
      open
      width={760}
      title={t('command.title')}
      onCancel={onClose}
      footer={[
        <Button key="password" disabled={data === undefined} onClick={() => open((close) => setPassword(false, close))}>
          {t('command.anotherPassword')}
        </Button>,
        <Button key="close" type="primary" onClick={onClose}>
          {t('close')}
        </Button>,
      ]}
    >
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 6 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          <p>{t('command.note', { username: data.username })}</p>
          {repository === undefined && <p className="zs-soft">{t(of.project === undefined ? 'command.replaceProject' : 'command.replace')}</p>}
          <Tabs size="small" items={data.items.map((tool) => ({ key: tool.tool, label: tool.tool, children: <Lines tool={tool} insecure={insecure} /> }))} />
        </>
      )}
    </Modal>
  )
}
/** Stands for a project in lines that are of none. */
const placeholder = 'my-project'

function Lines({ tool, insecure }: { readonly tool: Tool; readonly insecure: boolean }) {
  const { t } = useTranslation('mirror')
  return (
    <>
      {insecure && tool.tool === 'docker' && <Alert className="zs-above" type="warning" showIcon title={t('command.insecure')} />}
      {parts.map(
        (part) =>
          tool[part].length > 0 && (
            <section key={part} aria-label={t(`command.part.${part}`)}>
              <h3 className="rg-part">{t(`command.part.${part}`)}</h3>
              <CodeLines text={tool[part].join('\n')} />
            </section>
          ),
      )}
    </>
  )
}
